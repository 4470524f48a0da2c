#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::base {

// A number that one thread writes and any may read: costs that thread what a plain one does (no locked instruction),
// and a reader sees one that was true a moment ago. Numbers that different threads write belong on different cache
// lines.
class LoopCounter {
public:
    // ---- its thread ----
    LoopCounter& operator++() { return *this += 1; }
    LoopCounter& operator--() { return *this += ~std::uint64_t{0}; }
    LoopCounter& operator+=(std::uint64_t more) {
        value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
        return *this;
    }

    // ---- any thread ----
    operator std::uint64_t() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

// What several histograms of one kind have counted together.
struct HistogramSum {
    std::vector<std::uint64_t> boundsNs;  // upper ones, inclusive, ascending
    std::vector<std::uint64_t> counts;    // of each bound's own range, and of what is above the last
    std::uint64_t sumNs = 0;
};

// Durations in ranges, written and read like LoopCounter.
template <std::uint64_t... BoundsNs>
class LoopHistogram {
public:
    void observe(std::uint64_t ns) {
        std::size_t range = 0;
        while (range < kBounds.size() && ns > kBounds[range]) ++range;
        ++counts_[range];
        sumNs_ += ns;
    }
    void addTo(HistogramSum& sum) const {
        sum.boundsNs.assign(kBounds.begin(), kBounds.end());
        sum.counts.resize(counts_.size());
        for (std::size_t i = 0; i < counts_.size(); ++i) sum.counts[i] += counts_[i];
        sum.sumNs += sumNs_;
    }

private:
    static constexpr std::array<std::uint64_t, sizeof...(BoundsNs)> kBounds{BoundsNs...};
    std::array<LoopCounter, kBounds.size() + 1> counts_;
    LoopCounter sumNs_;
};

}  // namespace weir::base
