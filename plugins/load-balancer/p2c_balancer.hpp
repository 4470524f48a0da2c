#pragma once

#include "counting_balancer.hpp"

namespace weir::balance {

// The power of two choices: of two different upstreams at random the one that is less loaded, where load is the square
// root of the average time in ms plus 1, cut to a whole number, times the requests in flight; but the other when it has
// rested for kRestNs. Weights do not count, as in ShenYu.
class P2cBalancer final : public CountingBalancer {
public:
    explicit P2cBalancer(const std::vector<Upstream>& upstreams, const Clock& clock = kSystemClock)
        : CountingBalancer(upstreams, clock) {}
    int pick(const PickRequest& request) noexcept override;

private:
    std::int64_t loadOf(std::size_t index) const noexcept;
};

}  // namespace weir::balance
