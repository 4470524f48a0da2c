#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load-balancer/clock.hpp"
#include "weir/load_balancer.hpp"

namespace weir::test {

// The time as a test sets it.
struct BalancerClock {
    static inline std::int64_t wallMs = 0;
    static inline std::uint64_t steadyNs = 0;
    static constexpr balance::Clock kClock{[]() noexcept { return wallMs; }, []() noexcept { return steadyNs; }};

    BalancerClock() {
        wallMs = 1'700'000'000'000;
        steadyNs = 1'000'000'000'000;
    }
    void pass(std::int64_t ms) {
        wallMs += ms;
        steadyNs += static_cast<std::uint64_t>(ms) * 1'000'000;
    }
};

constexpr std::uint64_t operator""_ms(unsigned long long ms) { return ms * 1'000'000; }

// Upstreams a:1, b:1, ... of these weights.
inline std::vector<Upstream> upstreamsOf(const std::vector<std::uint32_t>& weights) {
    std::vector<Upstream> out;
    for (std::uint32_t weight : weights) {
        out.push_back({.url = std::string(1, static_cast<char>('a' + out.size())) + ":1", .weight = weight});
    }
    return out;
}

constexpr PickRequest kAnyone{"", nullptr};

inline std::vector<int> countPicks(LoadBalancer& balancer, std::size_t upstreams, int picks) {
    std::vector<int> counts(upstreams);
    for (int i = 0; i < picks; ++i) {
        const int index = balancer.pick(kAnyone);
        balancer.done(index, 0, false);
        ++counts[static_cast<std::size_t>(index)];
    }
    return counts;
}

}  // namespace weir::test
