#pragma once

#include <cstdint>
#include <random>

namespace weir::soak {

// What one thread of the soak decides by. The same seed gives the same decisions; how the threads interleave is the
// machine's.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    // 0 to n - 1; n is not 0.
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((engine_() >> 32) * n >> 32); }
    std::uint32_t between(std::uint32_t first, std::uint32_t last) { return first + below(last - first + 1); }
    bool perMille(std::uint32_t share) { return below(1000) < share; }

private:
    std::mt19937_64 engine_;
};

}  // namespace weir::soak
