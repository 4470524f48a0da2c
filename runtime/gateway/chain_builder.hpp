#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "chain/snapshot.hpp"
#include "data/data_set.hpp"
#include "gateway/plugin_instance.hpp"

namespace weir::gateway {

// What one chain entry owns: plugin, handles and matcher.
struct EntryOwner;

// What a build made besides the snapshot.
struct BuiltChain {
    std::shared_ptr<const chain::Snapshot> snapshot;
    std::vector<std::string> warnings;  // keys that a handle does not know, data that waits for a module
    std::map<std::string, std::shared_ptr<EntryOwner>> owners;  // by plugin key, for the next build to share from
};

// The chain of these plugins with this data: handles parsed by their plugins, conditions compiled, sorted. The first
// thing that is wrong is the error; its origin is file:line:column of the value where the data came from a file.
// A handle whose text and plugin are those of `previous` is taken from there, and with it what it owns: a balancer goes
// on where it was when another selector changes. Control thread; runs the plugins' prepare functions.
base::Result<BuiltChain> buildChain(const std::vector<std::shared_ptr<PluginInstance>>& plugins,
                                    const data::DataSet& data, std::uint64_t version,
                                    const BuiltChain* previous = nullptr);

}  // namespace weir::gateway
