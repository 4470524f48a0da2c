#include "round_robin_balancer.hpp"

#include <algorithm>
#include <numeric>

#include "weights.hpp"

namespace weir::balance {

namespace {

using Shares = std::vector<std::uint64_t>;

// In lowest terms, and scaled down where their turn would be longer than `longest`.
Shares sharesAt(const std::vector<Upstream>& upstreams, std::int64_t nowMs, std::uint64_t longest) {
    Shares shares;
    std::uint64_t divisor = 0;
    for (const Upstream& one : upstreams) {
        shares.push_back(effectiveWeight(one, nowMs));
        divisor = std::gcd(divisor, shares.back());
    }
    const std::uint64_t total = std::reduce(shares.begin(), shares.end()) / divisor;
    for (std::uint64_t& share : shares) {
        share /= divisor;
        if (total > longest) share = std::max<std::uint64_t>(1, share * longest / total);
    }
    return shares;
}

std::vector<std::uint32_t> turnOf(const Shares& shares) {
    const auto total = static_cast<std::int64_t>(std::reduce(shares.begin(), shares.end()));
    std::vector<std::int64_t> current(shares.size());
    std::vector<std::uint32_t> turn;
    turn.reserve(static_cast<std::size_t>(total));
    for (std::int64_t step = 0; step < total; ++step) {
        for (std::size_t i = 0; i < current.size(); ++i) current[i] += static_cast<std::int64_t>(shares[i]);
        const auto best = std::max_element(current.begin(), current.end());  // the first of equals
        *best -= total;
        turn.push_back(static_cast<std::uint32_t>(best - current.begin()));
    }
    return turn;
}

}  // namespace

RoundRobinBalancer::RoundRobinBalancer(const std::vector<Upstream>& upstreams, const Clock& clock) : clock_(clock) {
    addWarmUp(upstreams);
    stages_.push_back({Weights::kSettled, turnOf(sharesAt(upstreams, Weights::kSettled, kLongestTurn))});
}

void RoundRobinBalancer::addWarmUp(const std::vector<Upstream>& upstreams) {
    const std::int64_t begin = clock_.wallMs();
    const std::int64_t end = warmUpEnd(upstreams, begin);
    if (end == begin) return;
    // Fewer pieces for very many upstreams: their turns are long, and each step of a turn looks at all of them.
    const auto count = static_cast<std::int64_t>(upstreams.size());
    const std::int64_t pieces = std::clamp<std::int64_t>(4096 / count, 4, kStages);
    const std::int64_t piece = (end - begin) / pieces + 1;
    Shares last;
    for (std::int64_t from = begin; from < end; from += std::min(piece, end - from)) {
        const std::int64_t until = from + std::min(piece, end - from);
        Shares shares = sharesAt(upstreams, from + (until - from) / 2, kLongestWarmTurn);
        if (shares == last) {
            stages_.back().untilMs = until;
        } else {
            stages_.push_back({until, turnOf(shares)});
            last = std::move(shares);
        }
    }
}

const std::vector<std::uint32_t>& RoundRobinBalancer::turn() noexcept {
    std::size_t stage = stage_.load(std::memory_order_relaxed);
    if (stage + 1 == stages_.size()) return stages_.back().turn;
    const std::int64_t nowMs = clock_.wallMs();
    if (nowMs >= stages_[stage].untilMs) {
        while (nowMs >= stages_[stage].untilMs) ++stage;
        stage_.store(stage, std::memory_order_relaxed);  // a slower loop may put it back: the next pick moves it again
    }
    return stages_[stage].turn;
}

int RoundRobinBalancer::pick(const PickRequest& request) noexcept {
    const std::vector<std::uint32_t>& order = turn();
    const std::size_t start = position_.fetch_add(1, std::memory_order_relaxed) % order.size();
    for (std::size_t step = 0; step < order.size(); ++step) {
        const std::uint32_t index = order[(start + step) % order.size()];
        if (!request.isExcluded(index)) return static_cast<int>(index);
    }
    return -1;
}

}  // namespace weir::balance
