#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

namespace weir::upstream {

// When an upstream is left out of picks for what its calls came to (Envoy's outlier detection, of failures in a row).
struct EjectionPolicy {
    std::uint32_t failures = 5;                         // in a row, without a response head; 0: never
    std::chrono::nanoseconds base = std::chrono::seconds(10);  // it rests so long, the n-th time n times as long
    std::chrono::nanoseconds max = std::chrono::seconds(300);  // but never longer; in use for as long, n begins anew
};

// What the process knows of one upstream while it is used. Written by every loop and by the health checks, read by
// picks and by the management port: relaxed, each word by itself, on cache lines of its own. Any thread.
//
// An ejected one rests, then gets one call at a time as a trial: the first response head puts it back into use, a
// failed trial sends it back to rest. Times are those of the steady clock.
struct alignas(64) ServerState {
    std::atomic<std::uint32_t> inFlight{0};       // calls from the dial to the end of the response, or the failure
    std::atomic<std::uint32_t> failuresInRow{0};  // since the last response head
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> failures{0};       // no response head came
    std::atomic<std::uint64_t> latencyNs{0};      // request to response head, smoothed over the last ones; 0: none yet
    std::atomic<std::uint64_t> ejectedUntilNs{0};  // it rests until then, after that it is on trial; 0: in use
    std::atomic<bool> unhealthy{false};            // an active check found it so; written by setUnhealthy() only
    // How many upstreams of the process are unhealthy or ejected; shared by all of them, so that a pick has one word to
    // look at while there is none.
    std::shared_ptr<std::atomic<std::uint32_t>> out = std::make_shared<std::atomic<std::uint32_t>>(0);

    ServerState() = default;
    ~ServerState();  // one that is out is not counted any more
    ServerState(const ServerState&) = delete;
    ServerState& operator=(const ServerState&) = delete;

    void setUnhealthy(bool now);

    // ---- one call: began, then at most one of answered, failed and dropped, then ended ----
    void callBegan();
    // A response head came. true: that put it back into use.
    bool callAnswered(std::uint64_t latencyNs, std::uint64_t nowNs);
    // None came, and the upstream is to blame. How long it rests now; 0: it was not ejected by this.
    std::chrono::nanoseconds callFailed(std::uint64_t nowNs, const EjectionPolicy& policy);
    // Nobody waits for the head any more: if this was a trial, another may take its place.
    void callDropped(std::uint64_t nowNs);
    void callEnded();

    // ---- for picks ----
    bool ejected() const { return ejectedUntilNs.load(std::memory_order_relaxed) != 0; }
    bool resting(std::uint64_t nowNs) const { return ejectedUntilNs.load(std::memory_order_relaxed) > nowNs; }
    // Of one that is ejected: whether the caller's call is the trial. One that comes to nothing blocks others for
    // another rest, or until callDropped().
    bool takeTrial(std::uint64_t nowNs);

private:
    std::chrono::nanoseconds eject(std::uint64_t since, std::uint64_t nowNs, const EjectionPolicy& policy);

    std::atomic<bool> onTrial_{false};
    std::atomic<std::uint32_t> ejections_{0};   // one after the other
    std::atomic<std::uint64_t> restNs_{0};      // the last one
    std::atomic<std::uint64_t> returnedNs_{0};  // into use
};

}  // namespace weir::upstream
