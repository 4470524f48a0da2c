#pragma once

#include <cstdint>
#include <utility>

#include "upstream/upstream_set.hpp"

namespace weir::chain {

// What an exchange owes for the upstreams it uses: to the balancer one done() for each pick, whatever becomes of it, to
// the budget the place of a repeat. giveUp() and giveRetry() settle what is open. Loop thread only; sets outlive it.
class UpstreamUse {
public:
    // As UpstreamSet::pick(). A pick that is still open came to nothing then.
    int pick(const upstream::UpstreamSet& set, std::uint32_t balancer, const weir_pick& request);
    // A call begins: to the pick that is open, or the route is not of a balancer's choice.
    void called(const weir_route& route);
    // The response head is here, after so long.
    void answered(std::uint64_t latencyNs);
    // It was not made after all, for want of something that is not the upstream's.
    void notCalled() { called_ = false; }
    // The call failed; another to the same upstream may follow.
    void failed(std::uint64_t latencyNs) {
        if (!called_) return;
        failed_ = true;
        latencyNs_ = latencyNs;
    }
    // No call follows. One that was cancelled, or never made, says nothing of the upstream.
    void giveUp() { close(latencyNs_, failed_); }

    bool takeRetry(const upstream::UpstreamSet& set, const upstream::RetryBudget& budget);
    void giveRetry() {
        if (retrying_) std::exchange(retrying_, nullptr)->giveRetry();
    }

private:
    void close(std::uint64_t latencyNs, bool failed);

    const upstream::UpstreamSet* picked_ = nullptr;  // null: no pick is open
    const upstream::UpstreamSet* retrying_ = nullptr;  // null: no place is taken
    std::uint64_t latencyNs_ = 0;
    std::uint32_t balancer_ = 0;
    int index_ = 0;
    bool called_ = false;
    bool failed_ = false;
    bool trial_ = false;  // of one that is ejected
};

}  // namespace weir::chain
