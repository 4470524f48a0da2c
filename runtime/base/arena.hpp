#pragma once

#include <cstddef>
#include <string_view>

#include "base/byte_words.hpp"
#include "weir/abi.h"

namespace weir::base {

// Free chunks of one size, kept by one loop. Not thread safe.
class ChunkPool {
public:
    static constexpr std::size_t kChunkSize = 8192;

    ChunkPool() = default;
    ~ChunkPool();
    ChunkPool(const ChunkPool&) = delete;
    ChunkPool& operator=(const ChunkPool&) = delete;

    // A chunk of kChunkSize bytes, aligned to WEIR_ARENA_ALIGN.
    void* take();
    void give(void* chunk);
    std::size_t inUse() const { return inUse_; }

private:
    struct Free { Free* next; };
    static constexpr std::size_t kKeep = 256;  // more than this many idle chunks go back to the heap

    Free* free_ = nullptr;
    std::size_t kept_ = 0;
    std::size_t inUse_ = 0;
};

// Memory of one exchange: bump allocation over pooled chunks, no destructors, all of it freed at once. Its first bytes
// are the public head that modules allocate from without a call (abi.h).
class Arena : public weir_exchange {
public:
    // The chunk's first `used` bytes belong to the caller (the Exchange object itself lives there).
    Arena(ChunkPool& pool, void* firstChunk, std::size_t used);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    void* allocate(std::size_t size) {
        size = (size + WEIR_ARENA_ALIGN - 1) & ~std::size_t{WEIR_ARENA_ALIGN - 1};
        if (static_cast<std::size_t>(arena_end - arena_cur) < size) return more(size);
        void* block = arena_cur;
        arena_cur += size;
        return block;
    }
    template <class T>
    T* allocateArray(std::size_t count) { return static_cast<T*>(allocate(count * sizeof(T))); }
    std::string_view copy(std::string_view text) {
        if (text.empty()) return {"", 0};
        auto* block = static_cast<char*>(allocate(text.size()));
        copyText(block, text);
        return {block, text.size()};
    }

    [[gnu::cold]] void* more(std::size_t size);  // a new chunk, or a block of its own when size is over half a chunk
    void* large(std::size_t size);               // a heap block that largeFree or the arena's end gives back
    void largeFree(void* block);

private:
    struct Link { Link* next; };
    struct Large { Large* next; Large** previous; };

    ChunkPool& pool_;
    Link* chunks_ = nullptr;  // all but the first, which is the owner's
    Large* large_ = nullptr;
};

}  // namespace weir::base
