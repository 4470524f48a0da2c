#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clock.hpp"
#include "weir/load_balancer.hpp"

namespace weir::balance {

// When the last warm-up that has not ended at `nowMs` will end; nowMs when none is left.
std::int64_t warmUpEnd(const std::vector<Upstream>& upstreams, std::int64_t nowMs) noexcept;

// The weights of a set, some of which may still grow. Any loop.
class Weights {
public:
    static constexpr std::int64_t kSettled = std::numeric_limits<std::int64_t>::max();

    Weights(const std::vector<Upstream>& upstreams, const Clock& clock);

    // The moment to ask `at` for; kSettled from the end of the last warm-up on, and then the clock is not read.
    std::int64_t now() noexcept {
        if (settled_.load(std::memory_order_relaxed)) return kSettled;
        const std::int64_t nowMs = clock_.wallMs();
        if (nowMs < untilMs_) return nowMs;
        settled_.store(true, std::memory_order_relaxed);
        return kSettled;
    }
    std::uint64_t at(std::size_t index, std::int64_t nowMs) const noexcept {
        return effectiveWeight(upstreams_[index], nowMs);
    }
    std::size_t size() const noexcept { return upstreams_.size(); }

private:
    std::vector<Upstream> upstreams_;
    Clock clock_;
    std::int64_t untilMs_;
    std::atomic<bool> settled_;
};

}  // namespace weir::balance
