#pragma once

#include <chrono>
#include <cstdint>
#include <queue>
#include <vector>

namespace weir::soak {

using Clock = std::chrono::steady_clock;

// Numbers that are due at a time, one thread's.
class Timers {
public:
    void add(std::chrono::milliseconds in, std::uint64_t number) { due_.push({Clock::now() + in, number}); }

    // Calls fire(number) for all whose time has come; fire may add others.
    template <class Fire>
    void run(Fire fire) {
        const auto now = Clock::now();
        while (!due_.empty() && due_.top().at <= now) {
            const std::uint64_t number = due_.top().number;
            due_.pop();
            fire(number);
        }
    }

    // For epoll_wait: until the next is due, at most `most`.
    int waitMs(int most) const {
        if (due_.empty()) return most;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_.top().at - Clock::now()).count();
        return left < 0 ? 0 : left < most ? static_cast<int>(left) : most;
    }

private:
    struct Due {
        Clock::time_point at;
        std::uint64_t number;
        bool operator<(const Due& other) const { return at > other.at; }  // the earliest is the queue's top
    };
    std::priority_queue<Due> due_;
};

}  // namespace weir::soak
