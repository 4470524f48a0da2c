#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weir::net {

class EventLoop;
class TimerWheel;

using Milliseconds = std::chrono::milliseconds;

// One deadline. Arming, re-arming and disarming are O(1) and allocate nothing; it fires once, on the loop's thread. A
// request arms and disarms its timers several times and next to none of them ever fires: so a timer that is disarmed, or
// armed for later, keeps its place on the wheel and is looked at when that place comes round. The delay counts from
// EventLoop::nowMs(), the start of the present wake; measured from there it never fires early and at most one tick
// (10 ms) plus the loop's lag late. A callback may arm, disarm or destroy any timer, its own too. Disarms itself when
// destroyed. Loop thread only (or before the loop runs).
class Timer {
public:
    using Callback = void (*)(void* context);

    Timer(Callback callback, void* context) : callback_(callback), context_(context) {}
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    // An armed timer moves to the new deadline. A delay of zero or less fires with the next tick, not within the call.
    void arm(EventLoop& loop, Milliseconds delay);
    void disarm() { deadline_ = kDisarmed; }
    bool armed() const { return deadline_ != kDisarmed; }

private:
    friend class TimerWheel;
    static constexpr std::uint64_t kDisarmed = ~std::uint64_t{0};

    Callback callback_;
    void* context_;
    TimerWheel* wheel_ = nullptr;          // it has a place on
    std::uint64_t deadline_ = kDisarmed;   // ticks
    std::uint64_t visit_ = 0;              // the tick of its place, not after the deadline
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

    // `deadline` lies after the tick last advanced to.
    void arm(Timer& timer, std::uint64_t deadline);
    // Disarms it and takes its place away.
    void remove(Timer& timer);
    // Fires every timer due by `tick`: by deadline, equal ones that were armed once only in the order of arming.
    void advance(std::uint64_t tick);
    // When to look again: never after the first deadline; before it when that is more than a turn away, or when a timer
    // that was disarmed or armed for later still has its place.
    std::uint64_t nextTick() const;

private:
    static void link(Timer& timer, Timer** at);
    static void unlink(Timer& timer);
    void place(Timer& timer);
    void collectDue(std::uint64_t tick, Timer**& tail);
    void clearIfEmpty(std::size_t slot);

    std::uint64_t tick_;
    Timer* due_ = nullptr;
    std::array<Timer*, kSlots> slots_{};
    std::array<std::uint64_t, kSlots / 64> occupied_{};
};

}  // namespace weir::net
