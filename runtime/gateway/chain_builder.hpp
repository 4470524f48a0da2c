#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "chain/snapshot.hpp"
#include "data/data_set.hpp"
#include "gateway/plugin_instance.hpp"

namespace weir::gateway {

// What a build found besides the snapshot.
struct BuiltChain {
    std::shared_ptr<const chain::Snapshot> snapshot;
    std::vector<std::string> warnings;  // keys that a handle does not know, data that waits for a module
};

// The chain of these plugins with this data: handles parsed by their plugins, conditions compiled, sorted. The first
// thing that is wrong is the error; its origin is file:line:column of the value where the data came from a file.
// Control thread; runs the plugins' prepare functions.
base::Result<BuiltChain> buildChain(const std::vector<std::shared_ptr<PluginInstance>>& plugins,
                                    const data::DataSet& data, std::uint64_t version);

}  // namespace weir::gateway
