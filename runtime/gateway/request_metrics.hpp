#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/loop_counter.hpp"
#include "chain/plugin_counters.hpp"
#include "manage/traffic.hpp"

namespace weir::gateway {

// What one loop counts of its requests.
class RequestCounters {
public:
    // Loop thread; once for each request, when it is over. status 0: there was no response.
    void over(int status, bool aborted, std::uint64_t durationNs);
    // Any thread.
    void addTo(manage::Traffic& traffic) const;

private:
    std::array<base::LoopCounter, manage::kStatusClasses.size()> statuses_;
    base::LoopCounter aborted_;
    base::LoopHistogram<500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000,
                        250'000'000, 500'000'000, 1'000'000'000, 2'500'000'000, 5'000'000'000, 10'000'000'000>
        duration_;
};

// What the loops count of the plugins, by key: a plugin that goes and comes again counts on. Outlives the chains that
// refer to it.
class PluginMetrics {
public:
    // Keys beyond these share "other", so that an endless row of new ones does not make an endless page.
    static constexpr std::size_t kMaxKeys = 256;

    explicit PluginMetrics(std::uint32_t loops) : loops_(loops) {}

    // Control thread. One for each loop; stays where it is.
    chain::PluginCounters* countersOf(const std::string& key);
    // Any thread.
    void addTo(manage::Traffic& traffic) const;

private:
    const std::uint32_t loops_;
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<chain::PluginCounters>> counters_;
};

}  // namespace weir::gateway
