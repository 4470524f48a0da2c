#include "round_robin_balancer.hpp"

#include <algorithm>
#include <numeric>

namespace weir::balance {

namespace {

std::vector<std::uint64_t> reducedWeights(const std::vector<Upstream>& upstreams) {
    std::vector<std::uint64_t> weights;
    std::uint64_t divisor = 0;
    for (const Upstream& one : upstreams) {
        weights.push_back(one.weight);
        divisor = std::gcd(divisor, weights.back());
    }
    const std::uint64_t total = std::reduce(weights.begin(), weights.end()) / divisor;
    for (std::uint64_t& weight : weights) {
        weight /= divisor;
        if (total > RoundRobinBalancer::kLongestTurn)
            weight = std::max<std::uint64_t>(1, weight * RoundRobinBalancer::kLongestTurn / total);
    }
    return weights;
}

}  // namespace

RoundRobinBalancer::RoundRobinBalancer(const std::vector<Upstream>& upstreams) {
    const std::vector<std::uint64_t> weights = reducedWeights(upstreams);
    const auto total = static_cast<std::int64_t>(std::reduce(weights.begin(), weights.end()));
    std::vector<std::int64_t> current(weights.size());
    turn_.reserve(static_cast<std::size_t>(total));
    for (std::int64_t step = 0; step < total; ++step) {
        for (std::size_t i = 0; i < current.size(); ++i) current[i] += static_cast<std::int64_t>(weights[i]);
        const auto best = std::max_element(current.begin(), current.end());  // the first of equals
        *best -= total;
        turn_.push_back(static_cast<std::uint32_t>(best - current.begin()));
    }
}

int RoundRobinBalancer::pick(const PickRequest& request) noexcept {
    const std::size_t start = position_.fetch_add(1, std::memory_order_relaxed) % turn_.size();
    for (std::size_t step = 0; step < turn_.size(); ++step) {
        const std::uint32_t index = turn_[(start + step) % turn_.size()];
        if (!request.isExcluded(index)) return static_cast<int>(index);
    }
    return -1;
}

}  // namespace weir::balance
