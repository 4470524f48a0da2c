#pragma once

#include "counting_balancer.hpp"
#include "weights.hpp"

namespace weir::balance {

// Picks the upstream whose average response time multiplied by its requests in flight is least; of equals one at random
// by weight. One that has rested for kRestNs is picked; one that has not answered yet is taken for as quick as the
// quickest, so that a new one gets its share and not everything.
class ShortestResponseBalancer final : public CountingBalancer {
public:
    explicit ShortestResponseBalancer(const std::vector<Upstream>& upstreams, const Clock& clock = kSystemClock)
        : CountingBalancer(upstreams, clock), weights_(upstreams, clock) {}
    int pick(const PickRequest& request) noexcept override;

private:
    Weights weights_;
};

}  // namespace weir::balance
