#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <sys/uio.h>

#include "base/assert.hpp"
#include "net/event_loop.hpp"
#include "net/socket.hpp"

namespace weir::net {

// A few pieces on their way to a socket, in order, written with one call. Pieces must stay where they are until flush()
// says Done.
class OutQueue {
public:
    enum class State { Done, Blocked, Failed };
    static constexpr int kCapacity = 5;

    bool empty() const { return first_ == count_; }
    void add(std::string_view piece) {
        if (piece.empty()) return;
        if (first_ == count_) first_ = count_ = 0;
        WEIR_ASSERT(count_ < kCapacity);
        parts_[count_++] = {const_cast<char*>(piece.data()), piece.size()};
    }
    void clear() { first_ = count_ = 0; }
    std::uint64_t written() const { return written_; }  // bytes since restart()
    void restart() { written_ = 0; }

    // Writes what the socket takes. Blocked: wait until `source` is writable again.
    State flush(Source& source) {
        while (!empty()) {
            if (!source.writable()) [[unlikely]] return State::Blocked;
            const ssize_t written = writeParts(source.fd());
            if (written == -EAGAIN) [[unlikely]] {
                source.clearWritable();
                return State::Blocked;
            }
            if (written < 0) [[unlikely]] return State::Failed;
            written_ += static_cast<std::size_t>(written);
            advance(static_cast<std::size_t>(written));
        }
        return State::Done;
    }

private:
    // What is short is put together and sent as one piece: to copy 2 KiB is cheaper than what sendmsg does more than
    // send.
    static constexpr std::size_t kShort = 2048;

    ssize_t writeParts(int fd) const {
        const iovec* const parts = parts_ + first_;
        const int count = count_ - first_;
        if (count == 1) return writeSome(fd, parts->iov_base, parts->iov_len);
        std::size_t total = 0;
        for (int i = 0; i < count; ++i) total += parts[i].iov_len;
        if (total > kShort) return writeSome(fd, parts, static_cast<std::size_t>(count));
        char gathered[kShort];
        char* end = gathered;
        for (int i = 0; i < count; ++i) {
            std::memcpy(end, parts[i].iov_base, parts[i].iov_len);
            end += parts[i].iov_len;
        }
        return writeSome(fd, gathered, total);
    }

    void advance(std::size_t written) {
        while (written) {
            iovec& part = parts_[first_];
            if (written < part.iov_len) [[unlikely]] {
                part.iov_base = static_cast<char*>(part.iov_base) + written;
                part.iov_len -= written;
                return;
            }
            written -= part.iov_len;
            ++first_;
        }
    }

    std::uint64_t written_ = 0;
    iovec parts_[kCapacity];
    int first_ = 0;
    int count_ = 0;
};

}  // namespace weir::net
