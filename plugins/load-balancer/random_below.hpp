#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace weir::balance {

// A random number from 0 to bound - 1; `bound` is at least 1. Any thread.
inline std::uint64_t randomBelow(std::uint64_t bound) noexcept {
    // One generator a thread needs no lock, and one without a destructor keeps the module unloadable.
    thread_local std::minstd_rand generator(
        static_cast<std::uint_fast32_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(generator);
}

}  // namespace weir::balance
