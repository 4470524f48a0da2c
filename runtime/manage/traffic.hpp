#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/loop_counter.hpp"

namespace weir::manage {

// By the status that the client was sent. Other: above 599. None: the connection broke off before there was one.
inline constexpr std::array kStatusClasses = {"1xx", "2xx", "3xx", "4xx", "5xx", "other", "none"};

// What went through the gateway since it started; all loops together.
struct Traffic {
    struct Plugin {
        std::string key;
        std::uint64_t entered = 0, forwarded = 0, replied = 0, failed = 0, dropped = 0, unmatched = 0;
    };

    std::array<std::uint64_t, kStatusClasses.size()> requests{};
    std::uint64_t aborted = 0;  // of the requests: those whose response did not reach its end
    std::uint64_t running = 0;
    base::HistogramSum latency;
    std::uint64_t connections = 0, accepted = 0, refused = 0;                     // of clients
    std::uint64_t upstreamOpen = 0, upstreamIdle = 0, upstreamOpened = 0, upstreamReused = 0;  // connections
    base::HistogramSum loopBusy;
    std::vector<Plugin> plugins;
};

}  // namespace weir::manage
