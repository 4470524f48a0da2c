#pragma once

#include <cstddef>

namespace weir::net {

// A fixed piece of memory for reading into: [data, data + begin) is consumed, [begin, end) is pending, the rest free.
// Bytes never move by themselves.
struct Buffer {
    static constexpr std::size_t kCapacity = 16384 + 2048;

    std::size_t begin = 0;
    std::size_t end = 0;
    Buffer* next = nullptr;  // for whoever holds it
    char data[kCapacity];

    std::size_t pending() const { return end - begin; }
    std::size_t room() const { return kCapacity - end; }
    char* head() { return data + begin; }
    char* tail() { return data + end; }
};

// The free buffers of one loop. Not thread safe. A connection without bytes pending holds none.
class BufferPool {
public:
    BufferPool() = default;
    ~BufferPool();
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;

    Buffer* take();  // empty
    void give(Buffer* buffer);
    std::size_t inUse() const { return inUse_; }

private:
    static constexpr std::size_t kKeep = 256;

    Buffer* free_ = nullptr;
    std::size_t kept_ = 0;
    std::size_t inUse_ = 0;
};

}  // namespace weir::net
