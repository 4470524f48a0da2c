#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "chain/snapshot.hpp"
#include "data/data_set.hpp"
#include "gateway/plugin_instance.hpp"
#include "gateway/request_metrics.hpp"
#include "manage/data_control.hpp"
#include "match/plugin_matcher.hpp"
#include "upstream/set_catalog.hpp"

namespace weir::gateway {

// What one chain entry owns: plugin, handles and matcher.
struct EntryOwner;

// What a chain is made of.
struct ChainInput {
    std::vector<std::shared_ptr<PluginInstance>> plugins;
    match::Providers providers;  // of parameter types, operators and strategies
    std::shared_ptr<const data::DataSet> data;
    match::Order order = match::Order::Best;  // weir.compat.match
    PluginMetrics* metrics = nullptr;         // counts the plugins' requests, outlives the chain; null: nobody does
    upstream::SetCatalog* sets = nullptr;  // told whose the sets of upstreams are; null: nobody looks
};

// What a build made besides the snapshot; kept for the next one to share from.
struct BuiltChain {
    std::shared_ptr<const chain::Snapshot> snapshot;
    std::vector<std::string> warnings;  // what a handle does not know, data that waits for a module
    std::shared_ptr<const manage::WaitingEntries> waiting;
    ChainInput input;
    std::map<std::string, std::shared_ptr<EntryOwner>> owners;  // by plugin key
};

// The chain of these plugins with this data: handles parsed by their plugins, conditions compiled, sorted. The first
// thing that is wrong is the error; its origin is file:line:column of the value where the data came from a file. A
// condition with an operator or parameter type, or a record with a match mode, that nobody provides, waits.
//
// What was made of a record that is still the same is taken from `previous`, so that a change of one among a hundred
// thousand costs little; a handle also when only its text and its plugin are the same: a balancer goes on where it was.
// Control thread; runs the plugins' prepare functions.
base::Result<BuiltChain> buildChain(ChainInput input, std::uint64_t version, const BuiltChain* previous = nullptr);

}  // namespace weir::gateway
