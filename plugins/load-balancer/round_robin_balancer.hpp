#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "clock.hpp"
#include "weir/load_balancer.hpp"

namespace weir::balance {

// Smooth weighted round robin: weights 5, 1, 1 give a a b a c a a, over and over. One turn is worked out beforehand, so
// that a pick is one atomic addition, whatever the number of loops. While upstreams warm up, so are the turns of up to
// kStages equal pieces of that time, each with the weights of its middle.
class RoundRobinBalancer final : public LoadBalancer {
public:
    explicit RoundRobinBalancer(const std::vector<Upstream>& upstreams, const Clock& clock = kSystemClock);
    int pick(const PickRequest& request) noexcept override;

    // Weights that share no divisor can need a very long turn. Above this length they are scaled down, to shares that
    // differ from the exact ones by less than one part in this number for each upstream.
    static constexpr std::uint64_t kLongestTurn = 65536;
    static constexpr std::uint64_t kLongestWarmTurn = 1024;  // the same for a piece of the warm-up
    static constexpr std::int64_t kStages = 32;

private:
    struct Stage {
        std::int64_t untilMs;
        std::vector<std::uint32_t> turn;  // indexes in the order of picking
    };

    void addWarmUp(const std::vector<Upstream>& upstreams);
    const std::vector<std::uint32_t>& turn() noexcept;

    Clock clock_;
    std::vector<Stage> stages_;  // in the order of time; the last is for good
    std::atomic<std::size_t> stage_{0};
    alignas(64) std::atomic<std::uint64_t> position_{0};  // the one word that loops share and write
};

}  // namespace weir::balance
