#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weir/load_balancer.hpp"

namespace weir::balance {

// Smooth weighted round robin: weights 5, 1, 1 give a a b a c a a, over and over. One turn is worked out beforehand, so
// that a pick is one atomic addition, whatever the number of loops.
class RoundRobinBalancer final : public LoadBalancer {
public:
    explicit RoundRobinBalancer(const std::vector<Upstream>& upstreams);
    int pick(const PickRequest& request) noexcept override;

    // Weights that share no divisor can need a very long turn. Above this length they are scaled down, to shares that
    // differ from the exact ones by less than one part in this number for each upstream.
    static constexpr std::uint64_t kLongestTurn = 65536;

private:
    std::vector<std::uint32_t> turn_;  // indexes in the order of picking
    alignas(64) std::atomic<std::uint64_t> position_{0};  // the one word that loops share
};

}  // namespace weir::balance
