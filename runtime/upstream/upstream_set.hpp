#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "upstream/balancer_registry.hpp"
#include "upstream/server_registry.hpp"
#include "upstream/set_catalog.hpp"
#include "weir/abi.h"

namespace weir::upstream {

// How many requests are repeated at one time (Envoy's retry budget): a share of the calls in flight, but at least so
// many.
struct RetryBudget {
    std::uint32_t percent = 20;
    std::uint32_t minConcurrent = 3;
};

// The usable upstreams of a selector (status on, weight above 0) and the state of each balancer for them, one for the
// whole process. Made and destroyed on the control thread; pick and done are called by all loops. A set that changes is
// a new set.
class UpstreamSet {
public:
    static base::Result<std::unique_ptr<UpstreamSet>> make(std::span<const weir_upstream> upstreams,
                                                           const BalancerRegistry& balancers, ServerRegistry& servers,
                                                           SetCatalog& catalog);
    ~UpstreamSet();
    UpstreamSet(const UpstreamSet&) = delete;
    UpstreamSet& operator=(const UpstreamSet&) = delete;

    // An index, to be followed by one done(); -1 when none is left. `balancer` is an id of the registry. Unhealthy
    // upstreams are left out, ejected ones while there is another. `trial` becomes true when the pick is the trial of one
    // that is ejected: its callDropped() is due should nothing come of it.
    int pick(std::uint32_t balancer, const weir_pick& request, bool& trial) const;
    // done() does something for this balancer.
    bool wantsDone(std::uint32_t balancer) const {
        return balancer < states_.size() && states_[balancer].balancer.table->done;
    }
    void done(std::uint32_t balancer, int index, std::uint64_t latencyNs, bool failed) const;

    // Whether one more call may be repeated to these upstreams; if so, giveRetry() is due when that call has ended.
    bool takeRetry(const RetryBudget& budget) const;
    void giveRetry() const { retries_.fetch_sub(1, std::memory_order_relaxed); }

    std::size_t size() const { return servers_.size(); }
    const std::shared_ptr<const Server>& server(int index) const { return servers_[static_cast<std::size_t>(index)]; }

private:
    struct State {
        BalancerRegistry::Balancer balancer;
        void* state;
    };

    UpstreamSet() = default;

    int ask(std::uint32_t balancer, const weir_pick& request) const;
    int pickAmongSound(std::uint32_t balancer, const weir_pick& request, bool& trial) const;

    std::vector<std::shared_ptr<const Server>> servers_;
    std::vector<State> states_;
    std::shared_ptr<const std::atomic<std::uint32_t>> out_;  // of the process; null in an empty set
    mutable std::atomic<std::uint32_t> retries_{0};
    std::shared_ptr<const SetCatalog::Set> listed_;  // shown while this lives; holds those that are out, too: C15
};

}  // namespace weir::upstream
