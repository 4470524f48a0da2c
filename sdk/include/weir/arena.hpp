#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include "weir/abi.h"
#include "weir/text.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define WEIR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEIR_ASAN 1
#endif
#endif
#ifdef WEIR_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)0)
#endif

namespace weir::detail {

// Memory of an exchange: bump allocation with free lists by size class, so that a coroutine which is called a million
// times within one request (once per body chunk) costs no more than once. Loop thread.
inline void* arenaAllocate(weir_exchange& exchange, std::size_t size) {
    const std::size_t steps = (size + WEIR_ARENA_STEP - 1) / WEIR_ARENA_STEP;
    void* block = nullptr;
    if (steps <= WEIR_ARENA_CLASSES) {
        void*& free = exchange.arena_free[steps - 1];
        const std::size_t bytes = steps * WEIR_ARENA_STEP;
        if (free) {
            block = free;
            std::memcpy(&free, block, sizeof(void*));
            ASAN_UNPOISON_MEMORY_REGION(block, bytes);
            return block;
        }
        if (static_cast<std::size_t>(exchange.arena_end - exchange.arena_cur) >= bytes) {
            block = exchange.arena_cur;
            exchange.arena_cur += bytes;
            return block;
        }
        block = hostTable->arena_more(&exchange, bytes);
    } else {
        block = hostTable->arena_large(&exchange, size);
    }
    if (!block) throw std::bad_alloc();
    return block;
}

inline void arenaFree(weir_exchange& exchange, void* block, std::size_t size) noexcept {
    const std::size_t steps = (size + WEIR_ARENA_STEP - 1) / WEIR_ARENA_STEP;
    if (steps > WEIR_ARENA_CLASSES) return hostTable->arena_large_free(&exchange, block, size);
    void*& free = exchange.arena_free[steps - 1];
    std::memcpy(block, &free, sizeof(void*));
    free = block;
    ASAN_POISON_MEMORY_REGION(static_cast<char*>(block) + sizeof(void*), steps * WEIR_ARENA_STEP - sizeof(void*));
}

}  // namespace weir::detail
