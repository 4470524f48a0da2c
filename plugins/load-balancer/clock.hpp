#pragma once

#include <chrono>
#include <cstdint>

namespace weir::balance {

// Where the balancers read the time: the system's clocks, or a test's.
struct Clock {
    std::int64_t (*wallMs)() noexcept;     // since 1970, as in Upstream::timestampMs
    std::uint64_t (*steadyNs)() noexcept;
};

inline constexpr Clock kSystemClock{
    []() noexcept -> std::int64_t {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    },
    []() noexcept -> std::uint64_t {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
    },
};

}  // namespace weir::balance
