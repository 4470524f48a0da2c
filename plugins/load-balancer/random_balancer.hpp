#pragma once

#include <cstdint>
#include <vector>

#include "weir/load_balancer.hpp"

namespace weir::balance {

// Picks at random in proportion to weight.
class RandomBalancer final : public LoadBalancer {
public:
    explicit RandomBalancer(const std::vector<Upstream>& upstreams);
    int pick(const PickRequest& request) noexcept override;

private:
    std::vector<std::uint64_t> upTo_;  // sum of the weights up to and with each upstream
};

}  // namespace weir::balance
