#pragma once

#include <chrono>
#include <cstdint>

namespace weir::base {

// The steady clock, read anew.
inline std::uint64_t steadyNs() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace weir::base
