#pragma once

#include <cstdio>
#include <cstdlib>

// For our own bugs only, in every build type: a broken invariant in a proxy must stop it, not leak bytes to a stranger.
#define WEIR_ASSERT(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) [[unlikely]] {                                                           \
            std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                          \
        }                                                                                          \
    } while (false)
