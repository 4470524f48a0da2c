#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chain/host_table.hpp"
#include "chain/worker_pool.hpp"
#include "gateway/chain_builder.hpp"
#include "module/staging_directory.hpp"

namespace weir::fuzz {

// The core modules and `steer` (fixtures/steer.cpp) in a chain as the gateway builds it, without a gateway around them.
// Every request goes to 127.0.0.1:upstreamPort, those below /http without the /http.
class GatewayChain {
public:
    explicit GatewayChain(std::uint16_t upstreamPort);

    const std::shared_ptr<const chain::Snapshot>& snapshot() const { return built_.snapshot; }
    chain::WorkerPool& workers() { return workers_; }

private:
    void load(const std::string& file);

    std::unique_ptr<module::StagingDirectory> staging_;
    chain::ControlServices services_;
    chain::HostTable host_;
    std::vector<std::shared_ptr<gateway::PluginInstance>> plugins_;
    gateway::BuiltChain built_;
    chain::WorkerPool workers_{1};
};

}  // namespace weir::fuzz
