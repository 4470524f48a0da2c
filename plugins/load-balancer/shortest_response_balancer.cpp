#include "shortest_response_balancer.hpp"

#include <algorithm>
#include <limits>

#include "least.hpp"

namespace weir::balance {

int ShortestResponseBalancer::pick(const PickRequest& request) noexcept {
    const std::uint64_t nowNs = now();
    std::uint64_t quickest = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < size(); ++i) {
        if (request.isExcluded(i)) continue;
        if (load(i).endsRest(nowNs)) return begin(i, nowNs);
        if (const std::uint64_t lag = load(i).lagNs.load(std::memory_order_relaxed)) quickest = std::min(quickest, lag);
    }
    const auto cost = [&](std::size_t i) {
        const std::uint64_t lag = load(i).lagNs.load(std::memory_order_relaxed);
        return static_cast<double>(lag ? lag : quickest) * static_cast<double>(inFlightWithThis(i));
    };
    const std::int64_t nowMs = weights_.now();
    const int index = leastOf(size(), request, cost, [&](std::size_t i) { return weights_.at(i, nowMs); });
    return index < 0 ? -1 : begin(static_cast<std::size_t>(index), nowNs);
}

}  // namespace weir::balance
