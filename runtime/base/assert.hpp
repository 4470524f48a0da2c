#pragma once

#include <cstdio>
#include <cstdlib>

namespace weir::base {

[[noreturn, gnu::cold]] inline void assertionFailed(const char* file, int line, const char* condition) {
    std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    std::abort();
}

}  // namespace weir::base

// For our own bugs only, in every build type: a broken invariant in a proxy must stop it, not leak bytes to a stranger.
#define WEIR_ASSERT(condition)                                                                        \
    do {                                                                                              \
        if (!(condition)) [[unlikely]] ::weir::base::assertionFailed(__FILE__, __LINE__, #condition); \
    } while (false)
