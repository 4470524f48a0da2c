#pragma once

#include <cstdint>

namespace weir::probe {

// What of a module is left in this process.

std::uint32_t countThreads();
// Waits a little until there are no more than `expected`: one that was joined is seen for a moment longer. The number
// there are then.
std::uint32_t settledThreads(std::uint32_t expected);
// Kills and collects this process's children and theirs. Whether one still ran.
bool endChildren();

}  // namespace weir::probe
