#pragma once

#include <chrono>
#include <functional>

namespace weir::support {

// Within this everything a test waits for has to happen; long enough for a sanitizer build on a busy machine.
inline constexpr std::chrono::seconds kDeadline{10};

// For what cannot be waited for, such as a number under /proc: looks again until `condition` holds or the deadline is
// over, and says whether it held.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds deadline = kDeadline);

}  // namespace weir::support
