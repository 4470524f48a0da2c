#include "net/buffer_pool.hpp"

#include "base/assert.hpp"

namespace weir::net {

BufferPool::~BufferPool() {
    while (free_) {
        Buffer* next = free_->next;
        delete free_;
        free_ = next;
    }
}

Buffer* BufferPool::take() {
    ++inUse_;
    if (!free_) return new Buffer;  // not Buffer(): that would clear all of it
    Buffer* buffer = free_;
    free_ = buffer->next;
    --kept_;
    buffer->begin = buffer->end = 0;
    buffer->next = nullptr;
    return buffer;
}

void BufferPool::give(Buffer* buffer) {
    WEIR_ASSERT(inUse_ > 0);
    --inUse_;
    if (kept_ == kKeep) {
        delete buffer;
        return;
    }
    buffer->next = free_;
    free_ = buffer;
    ++kept_;
}

}  // namespace weir::net
