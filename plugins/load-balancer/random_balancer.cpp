#include "random_balancer.hpp"

#include <algorithm>

#include "random_below.hpp"

namespace weir::balance {

RandomBalancer::RandomBalancer(const std::vector<Upstream>& upstreams, const Clock& clock)
    : weights_(upstreams, clock) {
    std::uint64_t total = 0;
    for (const Upstream& one : upstreams) upTo_.push_back(total += one.weight);
}

int RandomBalancer::pick(const PickRequest& request) noexcept {
    const std::int64_t now = weights_.now();
    if (!request.excluded && now == Weights::kSettled) {
        const auto found = std::upper_bound(upTo_.begin(), upTo_.end(), randomBelow(upTo_.back()));
        return static_cast<int>(found - upTo_.begin());
    }
    const auto weight = [&](std::size_t i) { return request.isExcluded(i) ? 0 : weights_.at(i, now); };
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < upTo_.size(); ++i) total += weight(i);
    if (total == 0) return -1;
    std::uint64_t left = randomBelow(total);
    std::size_t i = 0;
    for (std::uint64_t one = weight(0); left >= one; one = weight(++i)) left -= one;
    return static_cast<int>(i);
}

}  // namespace weir::balance
