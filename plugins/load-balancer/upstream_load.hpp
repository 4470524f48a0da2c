#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "weir/load_balancer.hpp"

namespace weir::balance {

// What the process knows of the load of one upstream, for the balancers that ask. Each word by itself and relaxed: a
// reader may see the words of two answers, which only makes its guess a little older. Any loop.
struct alignas(64) UpstreamLoad {
    std::atomic<std::int32_t> inFlight{0};       // picks without their done
    std::atomic<std::uint64_t> pickedNs{0};      // when it was last picked, steady clock; 0: never
    std::atomic<std::uint64_t> answeredNs{0};    // when it last answered or failed
    std::atomic<std::uint64_t> lagNs{0};         // moving average of what that took; 0: none has ended

    // An answer weighs the more, the longer ago the one before: the average forgets a past of 600 ms to 1/e.
    static constexpr double kMemoryNs = 600e6;
    // What a failed call counts as, at least: else one that refuses at once would look like the quickest.
    static constexpr std::uint64_t kFailureNs = 3'000'000'000;
    // One that had nothing to do for so long is picked: its average is out of date, and grows no newer by itself.
    static constexpr std::uint64_t kRestNs = 3'000'000'000;

    void began(std::uint64_t nowNs) noexcept {
        inFlight.fetch_add(1, std::memory_order_relaxed);
        pickedNs.store(nowNs, std::memory_order_relaxed);
    }
    // latencyNs 0 without failure: nothing was learnt.
    void ended(std::uint64_t latencyNs, bool failed, std::uint64_t nowNs) noexcept;

    // It has rested for kRestNs since its last pick and answer, and the caller is the one to end that: true for one of
    // several loops only. ShenYu looks at the pick alone, so that one which takes longer than that to answer, or to
    // time out, is picked again as soon as it has.
    bool endsRest(std::uint64_t nowNs) noexcept {
        std::uint64_t picked = pickedNs.load(std::memory_order_relaxed);
        const std::uint64_t last = std::max(picked, answeredNs.load(std::memory_order_relaxed));
        return (last == 0 || nowNs > last + kRestNs) && inFlight.load(std::memory_order_relaxed) <= 0 &&
               pickedNs.compare_exchange_strong(picked, nowNs, std::memory_order_relaxed);
    }
};

using UpstreamLoads = std::vector<std::shared_ptr<UpstreamLoad>>;

// The loads of these upstreams, by index. Sets that name the same protocol and url share a load; it ends with the last
// of them. The calls and the ends of what they return: control thread.
UpstreamLoads loadsOf(const std::vector<Upstream>& upstreams);

}  // namespace weir::balance
