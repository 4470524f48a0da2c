#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chain/metadata_index.hpp"
#include "chain/plugin_counters.hpp"
#include "match/plugin_matcher.hpp"
#include "weir/abi.h"

namespace weir::chain {

// RPC types as bits, so that a plugin's "for these only" is one test per request. The empty mask is "for all".
using RpcMask = std::uint32_t;
inline constexpr RpcMask kHttpBit = 1;
RpcMask rpcBit(std::string_view type);  // an unknown type has its own bit, shared by all unknown ones

// One plugin of the chain with the data in force for it. Immutable once its snapshot is published. What every walk
// reads is one cache line, and none reads the plugin's table for enter and finished: it is far away, on two more.
struct alignas(64) ChainEntry {
    ChainEntry(const weir_plugin& itsTable, void* itsPlugin)
        : table(&itsTable), plugin(itsPlugin), enter(itsTable.enter), finished(itsTable.finished) {}

    const weir_plugin* table;
    void* plugin;
    decltype(weir_plugin::enter) enter;        // the table's, these two
    decltype(weir_plugin::finished) finished;  // null: not wanted
    void* config = nullptr;       // handle of PluginData.config
    const match::PluginMatcher* matcher = nullptr;  // null: it has no selectors
    PluginCounters* counters = nullptr;  // by number of loop (LoopContext); null: nobody counts
    RpcMask rpcTypes = 0;
    bool matches = false;         // has selectors and rules: entered only for what `matcher` chooses
    bool unmatchedError = false;  // nothing matches: answer -107 or -102 instead of going on

    std::atomic<std::uint64_t>* failures = nullptr;  // of the plugin's generation; counted when it fails a request
    std::string key;
    std::string noSelector;       // message of -107
    std::string noRule;           // message of -102
    std::shared_ptr<const void> owner;  // keeps instance, module generation, matcher and handles
};

// Everything a request may see, from start to end. Built by the control thread, shared by all loops.
struct Snapshot {
    std::uint64_t version = 0;
    std::vector<ChainEntry> chain;  // sorted
    std::shared_ptr<const MetadataIndex> metadata;  // null: none
};

// A loop's hold on one snapshot: plain counting, loop thread only. When the loop has moved on and the last user is
// gone, the reference goes back to the control thread, the only one that frees snapshots.
struct SnapshotPin {
    std::shared_ptr<const Snapshot> snapshot;
    std::size_t users = 0;
    std::uint64_t retiredMs = 0;  // loop time; 0: in force
};

}  // namespace weir::chain
