#include "net/timer_wheel.hpp"

#include <bit>

#include "base/assert.hpp"

namespace weir::net {

Timer::~Timer() {
    if (wheel_) wheel_->remove(*this);
}

TimerWheel::~TimerWheel() {
    for (Timer* head : slots_) {
        for (Timer* timer = head; timer; timer = timer->next_) {
            timer->wheel_ = nullptr;
            timer->disarm();
        }
    }
}

void TimerWheel::arm(Timer& timer, std::uint64_t deadline) {
    WEIR_ASSERT(deadline > tick_);
    if (timer.wheel_ && (timer.wheel_ != this || timer.visit_ > deadline)) [[unlikely]] timer.wheel_->remove(timer);
    timer.deadline_ = deadline;
    if (!timer.wheel_) place(timer);
}

void TimerWheel::remove(Timer& timer) {
    unlink(timer);
    timer.wheel_ = nullptr;
    timer.disarm();
    clearIfEmpty(timer.visit_ % kSlots);
}

void TimerWheel::advance(std::uint64_t tick) {
    Timer** tail = &due_;
    while (tick_ < tick) {
        if (slots_[++tick_ % kSlots]) collectDue(tick_, tail);
    }
    // All are off the wheel before the first one runs: what a callback arms waits for a later tick, and what it disarms
    // or destroys does not run.
    while (Timer* timer = due_) {
        unlink(*timer);
        timer->wheel_ = nullptr;
        if (!timer->armed()) continue;
        if (timer->deadline_ > tick_) {  // armed anew by the callback of another
            place(*timer);
            continue;
        }
        timer->disarm();
        timer->callback_(timer->context_);
    }
}

std::uint64_t TimerWheel::nextTick() const {
    for (std::size_t distance = 1; distance <= kSlots;) {
        const std::size_t slot = (tick_ + distance) % kSlots;
        const std::uint64_t bits = occupied_[slot / 64] >> slot % 64;
        if (bits) return tick_ + distance + static_cast<std::size_t>(std::countr_zero(bits));
        distance += 64 - slot % 64;
    }
    return kNever;
}

void TimerWheel::place(Timer& timer) {
    const std::size_t slot = timer.deadline_ % kSlots;
    timer.wheel_ = this;
    timer.visit_ = timer.deadline_;
    link(timer, &slots_[slot]);
    occupied_[slot / 64] |= std::uint64_t{1} << slot % 64;
}

void TimerWheel::link(Timer& timer, Timer** at) {
    timer.next_ = *at;
    timer.link_ = at;
    if (timer.next_) timer.next_->link_ = &timer.next_;
    *at = &timer;
}

void TimerWheel::unlink(Timer& timer) {
    *timer.link_ = timer.next_;
    if (timer.next_) timer.next_->link_ = timer.link_;
}

void TimerWheel::collectDue(std::uint64_t tick, Timer**& tail) {
    const std::size_t slot = tick % kSlots;
    Timer** const front = tail;  // a slot has its newest first; putting each before the last turns that round
    for (Timer* timer = slots_[slot]; timer;) {
        Timer* following = timer->next_;
        if (timer->visit_ == tick) {
            unlink(*timer);
            if (timer->deadline_ == tick) {
                link(*timer, front);
                if (tail == front) tail = &timer->next_;
            } else {
                timer->wheel_ = nullptr;
                if (timer->armed()) place(*timer);
            }
        }
        timer = following;
    }
    clearIfEmpty(slot);
}

void TimerWheel::clearIfEmpty(std::size_t slot) {
    if (!slots_[slot]) occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
}

}  // namespace weir::net
