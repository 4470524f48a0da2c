#pragma once

#include <atomic>
#include <cstdint>

namespace weir::upstream {

// What the process knows of one upstream while it is used. Written by every loop and by the health checks, read by
// picks and by the management port: relaxed, each word by itself, on a cache line of its own.
struct alignas(64) ServerState {
    std::atomic<std::uint32_t> inFlight{0};       // calls from the dial to the end of the response, or the failure
    std::atomic<std::uint32_t> failuresInRow{0};  // since the last response head
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> failures{0};       // no response head came
    std::atomic<std::uint64_t> latencyNs{0};      // request to response head, smoothed over the last ones; 0: none yet
    std::atomic<std::uint64_t> ejectedUntilNs{0};  // steady clock: after failures in a row it rests until then
    std::atomic<bool> unhealthy{false};            // an active check found it so
};

}  // namespace weir::upstream
