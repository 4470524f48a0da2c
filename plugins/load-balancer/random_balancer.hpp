#pragma once

#include <cstdint>
#include <vector>

#include "weights.hpp"

namespace weir::balance {

// Picks at random in proportion to weight.
class RandomBalancer final : public LoadBalancer {
public:
    explicit RandomBalancer(const std::vector<Upstream>& upstreams, const Clock& clock = kSystemClock);
    int pick(const PickRequest& request) noexcept override;

private:
    Weights weights_;
    std::vector<std::uint64_t> upTo_;  // sum of the full weights up to and with each upstream
};

}  // namespace weir::balance
