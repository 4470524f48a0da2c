#include "base/arena.hpp"

#include <cstdint>
#include <cstring>

#include "support/catch.hpp"

using namespace weir::base;

namespace {
bool aligned(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % WEIR_ARENA_ALIGN == 0; }

// The owner's chunk, given back after the arena is gone.
struct FirstChunk {
    explicit FirstChunk(ChunkPool& owner) : pool(owner), memory(owner.take()) {}
    ~FirstChunk() { pool.give(memory); }
    ChunkPool& pool;
    void* memory;
};
}  // namespace

TEST_CASE("an arena hands out aligned blocks behind the part its owner uses") {
    ChunkPool pool;
    FirstChunk first(pool);
    Arena arena(pool, first.memory, 100);
    auto* block = static_cast<char*>(arena.allocate(1));
    CHECK(block == static_cast<char*>(first.memory) + 112);
    CHECK(aligned(block));
    CHECK(static_cast<char*>(arena.allocate(17)) == block + 16);
    CHECK(static_cast<char*>(arena.allocate(1)) == block + 48);
    CHECK(pool.inUse() == 1);
}

TEST_CASE("an arena takes another chunk when one is full and gives all but the first back at its end") {
    ChunkPool pool;
    FirstChunk first(pool);
    {
        Arena arena(pool, first.memory, 0);
        for (int i = 0; i < 100; ++i) {
            void* block = arena.allocate(1000);
            REQUIRE(aligned(block));
            std::memset(block, i, 1000);
        }
        CHECK(pool.inUse() > 10);
    }
    CHECK(pool.inUse() == 1);
}

TEST_CASE("a block over half a chunk has memory of its own and leaves the current chunk as it is") {
    ChunkPool pool;
    FirstChunk first(pool);
    Arena arena(pool, first.memory, 0);
    char* before = arena.arena_cur;
    arena.allocate(ChunkPool::kChunkSize - 64);
    arena.allocate(64);
    void* big = arena.allocate(ChunkPool::kChunkSize);
    CHECK(aligned(big));
    std::memset(big, 1, ChunkPool::kChunkSize);
    CHECK(pool.inUse() == 1);
    CHECK(arena.arena_cur == before + ChunkPool::kChunkSize);
}

TEST_CASE("large blocks can be freed in any order, the rest goes with the arena") {
    ChunkPool pool;
    FirstChunk first(pool);
    Arena arena(pool, first.memory, 0);
    void* a = arena.large(5000);
    void* b = arena.large(6000);
    void* c = arena.large(7000);
    void* d = arena.large(8000);
    std::memset(d, 1, 8000);
    arena.largeFree(b);
    arena.largeFree(d);
    arena.largeFree(a);
    std::memset(c, 2, 7000);
}

TEST_CASE("a copied text does not depend on its source, and a copied empty text is not null") {
    ChunkPool pool;
    FirstChunk first(pool);
    Arena arena(pool, first.memory, 0);
    std::string source = "hello";
    std::string_view copy = arena.copy(source);
    source[0] = 'j';
    CHECK(copy == "hello");
    CHECK(arena.copy({}).data() != nullptr);
}

TEST_CASE("a pool reuses the chunk that came back last") {
    ChunkPool pool;
    void* chunk = pool.take();
    pool.give(chunk);
    CHECK(pool.inUse() == 0);
    CHECK(pool.take() == chunk);
    pool.give(chunk);
}
