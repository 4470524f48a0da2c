#include "random_balancer.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace weir::balance {

namespace {

std::uint64_t randomBelow(std::uint64_t bound) {
    // One generator a thread needs no lock, and one without a destructor keeps the module unloadable.
    thread_local std::minstd_rand generator(
        static_cast<std::uint_fast32_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(generator);
}

}  // namespace

RandomBalancer::RandomBalancer(const std::vector<Upstream>& upstreams) {
    std::uint64_t total = 0;
    for (const Upstream& one : upstreams) upTo_.push_back(total += one.weight);
}

int RandomBalancer::pick(const PickRequest& request) noexcept {
    if (!request.excluded) {
        const auto found = std::upper_bound(upTo_.begin(), upTo_.end(), randomBelow(upTo_.back()));
        return static_cast<int>(found - upTo_.begin());
    }
    const auto weight = [this](std::size_t i) { return upTo_[i] - (i ? upTo_[i - 1] : 0); };
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < upTo_.size(); ++i) total += request.isExcluded(i) ? 0 : weight(i);
    if (total == 0) return -1;
    std::uint64_t left = randomBelow(total);
    std::size_t i = 0;
    for (; request.isExcluded(i) || left >= weight(i); ++i) left -= request.isExcluded(i) ? 0 : weight(i);
    return static_cast<int>(i);
}

}  // namespace weir::balance
