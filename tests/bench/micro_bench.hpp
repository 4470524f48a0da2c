#pragma once

#include <time.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace weir::bench {

// CPU time of the calling thread so far, in nanoseconds: what else the machine runs meanwhile does not count.
inline double cpuNanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// A number above 0 from the command line, `otherwise` when it ends before `which`. Ends the program when it is none.
inline std::size_t argument(int count, char** arguments, int which, std::size_t otherwise) {
    if (count <= which) return otherwise;
    char* end = nullptr;
    const long value = std::strtol(arguments[which], &end, 10);
    if (value > 0 && *end == '\0') return static_cast<std::size_t>(value);
    std::fprintf(stderr, "%s: argument %d: expected a number above 0, found '%s'\n", arguments[0], which,
                 arguments[which]);
    std::exit(2);
}

}  // namespace weir::bench
