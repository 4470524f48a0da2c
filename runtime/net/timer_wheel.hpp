#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weir::net {

class EventLoop;
class TimerWheel;

using Milliseconds = std::chrono::milliseconds;

// One deadline. Arming, re-arming and disarming are O(1) and allocate nothing; it fires once, on the loop's thread. The
// delay counts from EventLoop::nowMs(), the start of the present wake; measured from there it never fires early and at
// most one tick (10 ms) plus the loop's lag late. A callback may arm, disarm or destroy any timer, its own too.
// Disarms itself when destroyed. Loop thread only (or before the loop runs).
class Timer {
public:
    using Callback = void (*)(void* context);

    Timer(Callback callback, void* context) : callback_(callback), context_(context) {}
    ~Timer() { disarm(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // An armed timer moves to the new deadline. A delay of zero or less fires with the next tick, not within the call.
    void arm(EventLoop& loop, Milliseconds delay);
    void disarm();
    bool armed() const { return wheel_ != nullptr; }

private:
    friend class TimerWheel;

    Callback callback_;
    void* context_;
    TimerWheel* wheel_ = nullptr;
    std::uint64_t deadline_ = 0;  // ticks
    Timer* next_ = nullptr;
    Timer** link_ = nullptr;  // what points at this timer
};

// The timers of one loop, hashed by deadline into a ring of slots; one whose deadline is further away than a turn stays
// in its slot until its turn has come. Counts ticks and knows no clock.
class TimerWheel {
public:
    static constexpr std::size_t kSlots = 1024;  // 10.24 s a turn
    static constexpr std::uint64_t kNever = ~std::uint64_t{0};

    explicit TimerWheel(std::uint64_t tick) : tick_(tick) {}
    ~TimerWheel();  // disarms what is left
    TimerWheel(const TimerWheel&) = delete;
    TimerWheel& operator=(const TimerWheel&) = delete;

    // `deadline` lies after the tick last advanced to. The timer is not armed.
    void add(Timer& timer, std::uint64_t deadline);
    void remove(Timer& timer);
    // Fires every timer due by `tick`: by deadline, equal ones in the order of arming.
    void advance(std::uint64_t tick);
    // When to look again: never after the first deadline, before it when that is more than a turn away.
    std::uint64_t nextTick() const;

private:
    static void link(Timer& timer, Timer** at);
    static void unlink(Timer& timer);
    void collectDue(std::uint64_t tick, Timer**& tail);
    void clearIfEmpty(std::size_t slot);

    std::uint64_t tick_;
    Timer* due_ = nullptr;
    std::array<Timer*, kSlots> slots_{};
    std::array<std::uint64_t, kSlots / 64> occupied_{};
};

}  // namespace weir::net
