#include "weights.hpp"

#include <algorithm>

namespace weir::balance {

std::int64_t warmUpEnd(const std::vector<Upstream>& upstreams, std::int64_t nowMs) noexcept {
    std::int64_t end = nowMs;
    for (const Upstream& one : upstreams) {
        if (one.timestampMs <= 0 || one.warmupMs <= 0) continue;
        end = std::max(end, std::min(one.timestampMs, Weights::kSettled - one.warmupMs) + one.warmupMs);
    }
    return end;
}

Weights::Weights(const std::vector<Upstream>& upstreams, const Clock& clock) : upstreams_(upstreams), clock_(clock) {
    const std::int64_t nowMs = clock_.wallMs();
    untilMs_ = warmUpEnd(upstreams_, nowMs);
    settled_ = untilMs_ == nowMs;
}

}  // namespace weir::balance
