#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "upstream/balancer_registry.hpp"
#include "upstream/server_registry.hpp"
#include "weir/abi.h"

namespace weir::upstream {

// The usable upstreams of a selector (status on, weight above 0) and the state of each balancer for them, one for the
// whole process. Made and destroyed on the control thread; pick and done are called by all loops. A set that changes is
// a new set.
class UpstreamSet {
public:
    static base::Result<std::unique_ptr<UpstreamSet>> make(std::span<const weir_upstream> upstreams,
                                                           const BalancerRegistry& balancers, ServerRegistry& servers);
    ~UpstreamSet();
    UpstreamSet(const UpstreamSet&) = delete;
    UpstreamSet& operator=(const UpstreamSet&) = delete;

    // An index; -1 when none is left. `balancer` is an id of the registry.
    int pick(std::uint32_t balancer, const weir_pick& request) const;
    // done() does something for this balancer: time the call.
    bool wantsDone(std::uint32_t balancer) const {
        return balancer < states_.size() && states_[balancer].balancer.table->done;
    }
    void done(std::uint32_t balancer, int index, std::uint64_t latencyNs, bool failed) const;

    std::size_t size() const { return servers_.size(); }
    const std::shared_ptr<const Server>& server(int index) const { return servers_[static_cast<std::size_t>(index)]; }

private:
    struct State {
        BalancerRegistry::Balancer balancer;
        void* state;
    };

    UpstreamSet() = default;

    std::vector<std::shared_ptr<const Server>> servers_;
    std::vector<State> states_;
};

}  // namespace weir::upstream
