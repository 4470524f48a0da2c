#include "p2c_balancer.hpp"

#include <cmath>

#include "random_below.hpp"

namespace weir::balance {

namespace {

// The index of the one with `before` allowed ones in front of it.
std::size_t allowedAt(const PickRequest& request, std::uint64_t before) noexcept {
    if (!request.excluded) return before;
    std::size_t index = 0;
    for (;; ++index) {
        if (request.isExcluded(index)) continue;
        if (before-- == 0) return index;
    }
}

}  // namespace

std::int64_t P2cBalancer::loadOf(std::size_t index) const noexcept {
    const double lagMs = static_cast<double>(load(index).lagNs.load(std::memory_order_relaxed)) / 1e6;
    return static_cast<std::int64_t>(std::sqrt(lagMs) + 1) * inFlightWithThis(index);
}

int P2cBalancer::pick(const PickRequest& request) noexcept {
    std::uint64_t allowed = 0;
    for (std::size_t i = 0; i < size(); ++i) allowed += !request.isExcluded(i);
    if (allowed == 0) return -1;
    const std::uint64_t nowNs = now();
    // ShenYu draws up to three times, for two that are healthy; here those excluded are not drawn at all.
    const std::uint64_t a = randomBelow(allowed);
    const std::size_t first = allowedAt(request, a);
    if (allowed == 1) return begin(first, nowNs);
    std::uint64_t b = randomBelow(allowed - 1);
    b += b >= a;
    const std::size_t second = allowedAt(request, b);
    const bool secondIsLess = loadOf(second) < loadOf(first);
    const std::size_t winner = secondIsLess ? second : first;
    const std::size_t loser = secondIsLess ? first : second;
    return begin(load(loser).endsRest(nowNs) ? loser : winner, nowNs);
}

}  // namespace weir::balance
