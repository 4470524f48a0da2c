#pragma once

#include "counting_balancer.hpp"

namespace weir::balance {

// Picks the upstream with the fewest requests in flight; of equals one at random. Weights do not count, as in ShenYu,
// whose counter is never decremented and so evens out the picks instead.
class LeastActiveBalancer final : public CountingBalancer {
public:
    explicit LeastActiveBalancer(const std::vector<Upstream>& upstreams, const Clock& clock = kSystemClock)
        : CountingBalancer(upstreams, clock) {}
    int pick(const PickRequest& request) noexcept override;
};

}  // namespace weir::balance
