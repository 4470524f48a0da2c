#include "gateway/request_metrics.hpp"

#include <algorithm>

namespace weir::gateway {

namespace {

std::size_t classOf(int status) {
    constexpr std::size_t kNone = manage::kStatusClasses.size() - 1;
    if (status < 100) return kNone;
    return std::min(static_cast<std::size_t>(status / 100 - 1), kNone - 1);
}

}  // namespace

void RequestCounters::over(int status, bool aborted, std::uint64_t durationNs) {
    ++statuses_[classOf(status)];
    if (aborted) ++aborted_;
    if (status > 101) duration_.observe(durationNs);  // a tunnel is as long as its users like
}

void RequestCounters::addTo(manage::Traffic& traffic) const {
    for (std::size_t i = 0; i < statuses_.size(); ++i) traffic.requests[i] += statuses_[i];
    traffic.aborted += aborted_;
    duration_.addTo(traffic.latency);
}

chain::PluginCounters* PluginMetrics::countersOf(const std::string& key) {
    const std::lock_guard lock(mutex_);
    auto found = counters_.find(key);
    if (found == counters_.end())
        found = counters_.try_emplace(counters_.size() < kMaxKeys ? key : "other", loops_).first;
    return found->second.data();
}

void PluginMetrics::addTo(manage::Traffic& traffic) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, loops] : counters_) {
        manage::Traffic::Plugin& sum = traffic.plugins.emplace_back();
        sum.key = key;
        for (const chain::PluginCounters& loop : loops) {
            sum.entered += loop.entered;
            sum.forwarded += loop.forwarded;
            sum.replied += loop.replied;
            sum.failed += loop.failed;
            sum.dropped += loop.dropped;
            sum.unmatched += loop.unmatched;
        }
    }
}

}  // namespace weir::gateway
