#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weir::gates {

// What is counted. Receive and Send are all system calls that read or write bytes, on whatever descriptor. Other: the
// rest that a loop could be tempted to make for a request (counting_preload.cpp lists them). Allocate: malloc and its
// kin, and so operator new.
enum class Call : std::size_t { Receive, ReceiveAgain, Send, EpollWait, EpollControl, Futex, Other, Allocate };
inline constexpr std::size_t kCalls = 8;
inline constexpr std::array<const char*, kCalls> kCallNames{
    "recv, read", "  of them EAGAIN", "send, write",        "epoll_wait",
    "epoll_ctl",  "futex",            "other system calls", "malloc"};

inline constexpr std::size_t kLoops = 8;
inline constexpr std::size_t kTraces = 8;
inline constexpr std::size_t kTraceDepth = 16;

// Who allocated: return addresses, innermost first; the first zero ends it.
using Trace = std::array<std::atomic<std::uint64_t>, kTraceDepth>;

// The file that counting_preload.so and a test share, zero at first. The counts are those of the threads that have
// waited in epoll_wait, the event loops; each only ever adds to its own.
struct SharedCounts {
    std::atomic<std::uint32_t> loops;        // how many of `calls` are in use
    std::atomic<std::uint32_t> wantsTraces;  // set by the test: from now on allocations leave traces
    std::atomic<std::uint32_t> traceCount;   // may exceed kTraces
    std::array<std::array<std::atomic<std::uint64_t>, kCalls>, kLoops> calls;
    std::array<Trace, kTraces> traces;
};

// The environment variable with that file's path.
inline constexpr const char* kCountsVariable = "WEIR_GATES_COUNTS";

}  // namespace weir::gates
