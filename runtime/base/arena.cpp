#include "base/arena.hpp"

#include <sanitizer/asan_interface.h>

#include <new>

namespace weir::base {

namespace {
constexpr std::size_t kHeader = WEIR_ARENA_ALIGN;
constexpr std::align_val_t kAlign{WEIR_ARENA_ALIGN};
}  // namespace

ChunkPool::~ChunkPool() {
    while (free_) {
        Free* next = free_->next;
        ::operator delete(free_, kAlign);
        free_ = next;
    }
}

void* ChunkPool::take() {
    ++inUse_;
    if (!free_) return ::operator new(kChunkSize, kAlign);
    Free* chunk = free_;
    free_ = chunk->next;
    --kept_;
    return chunk;
}

void ChunkPool::give(void* chunk) {
    --inUse_;
    ASAN_UNPOISON_MEMORY_REGION(chunk, kChunkSize);  // modules poison the blocks they give back; else it does nothing
    if (kept_ == kKeep) return ::operator delete(chunk, kAlign);
    auto* free = static_cast<Free*>(chunk);
    free->next = free_;
    free_ = free;
    ++kept_;
}

Arena::Arena(ChunkPool& pool, void* firstChunk, std::size_t used) : weir_exchange{}, pool_(pool) {
    used = (used + WEIR_ARENA_ALIGN - 1) & ~std::size_t{WEIR_ARENA_ALIGN - 1};
    arena_cur = static_cast<char*>(firstChunk) + used;
    arena_end = static_cast<char*>(firstChunk) + ChunkPool::kChunkSize;
}

Arena::~Arena() {
    while (chunks_) {
        Link* next = chunks_->next;
        pool_.give(chunks_);
        chunks_ = next;
    }
    while (large_) largeFree(reinterpret_cast<char*>(large_) + ((sizeof(Large) + kHeader - 1) & ~(kHeader - 1)));
}

void* Arena::more(std::size_t size) {
    size = (size + WEIR_ARENA_ALIGN - 1) & ~std::size_t{WEIR_ARENA_ALIGN - 1};
    if (size > ChunkPool::kChunkSize / 2) return large(size);
    auto* chunk = static_cast<char*>(pool_.take());
    auto* link = reinterpret_cast<Link*>(chunk);
    link->next = chunks_;
    chunks_ = link;
    arena_cur = chunk + kHeader;
    arena_end = chunk + ChunkPool::kChunkSize;
    void* block = arena_cur;
    arena_cur += size;
    return block;
}

void* Arena::large(std::size_t size) {
    constexpr std::size_t header = (sizeof(Large) + kHeader - 1) & ~(kHeader - 1);
    auto* block = static_cast<char*>(::operator new(header + size, kAlign));
    auto* node = reinterpret_cast<Large*>(block);
    node->next = large_;
    node->previous = &large_;
    if (large_) large_->previous = &node->next;
    large_ = node;
    return block + header;
}

void Arena::largeFree(void* block) {
    constexpr std::size_t header = (sizeof(Large) + kHeader - 1) & ~(kHeader - 1);
    auto* node = reinterpret_cast<Large*>(static_cast<char*>(block) - header);
    *node->previous = node->next;
    if (node->next) node->next->previous = node->previous;
    ::operator delete(node, kAlign);
}

}  // namespace weir::base
