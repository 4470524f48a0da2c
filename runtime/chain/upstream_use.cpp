#include "chain/upstream_use.hpp"

#include "base/steady_clock.hpp"

namespace weir::chain {

int UpstreamUse::pick(const upstream::UpstreamSet& set, std::uint32_t balancer, const weir_pick& request) {
    giveUp();
    bool trial = false;
    const int index = set.pick(balancer, request, trial);
    if (index < 0) return index;
    picked_ = &set;
    balancer_ = balancer;
    index_ = index;
    latencyNs_ = 0;
    called_ = failed_ = false;
    trial_ = trial;
    return index;
}

void UpstreamUse::called(const weir_route& route) {
    called_ = picked_ && reinterpret_cast<const upstream::UpstreamSet*>(route.set) == picked_ && route.index == index_;
}

void UpstreamUse::answered(std::uint64_t latencyNs) {
    if (called_) close(latencyNs, false);
}

void UpstreamUse::close(std::uint64_t latencyNs, bool failed) {
    const upstream::UpstreamSet* set = std::exchange(picked_, nullptr);
    if (!set) return;
    set->done(balancer_, index_, latencyNs, failed);
    if (!trial_) return;
    // If nothing came of it the next pick may be the trial.
    set->server(index_)->state.callDropped(base::steadyNs());
}

bool UpstreamUse::takeRetry(const upstream::UpstreamSet& set, const upstream::RetryBudget& budget) {
    if (retrying_) return true;
    if (!set.takeRetry(budget)) return false;
    retrying_ = &set;
    return true;
}

}  // namespace weir::chain
