#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <netinet/in.h>

#include "stress/soak/soak_plan.hpp"

namespace weir::soak {

// A message's head, with the empty line behind it.
struct Head {
    std::string text;

    // The first line of that name, in any case.
    std::optional<std::string_view> field(std::string_view name) const;
    std::size_t count(std::string_view name) const;
    bool says(std::string_view name, std::string_view value) const { return field(name) == value; }
};

// Takes a whole head from the front of `in`; nothing when it is not all there.
std::optional<Head> takeHead(std::string& in);

// Reads a body from the front of what has come, and compares it byte by byte with the one that was asked for.
class BodyReader {
public:
    BodyReader() = default;
    // How the head frames it. `bodyless`: there is none, whatever the head says.
    BodyReader(const Head& head, bool request, bool bodyless, std::uint64_t id, Direction direction);

    // Takes what belongs to the body out of `in`.
    void read(std::string& in);

    bool done() const { return done_; }
    Framing framing() const { return framing_; }
    // What was wrong; "" while nothing is. The length is for the caller to compare.
    const std::string& fault() const { return fault_; }
    std::size_t size() const { return size_; }
    // Keeps the bytes instead, when nobody knows them: a body of the gateway's own.
    void collect() { collects_ = true; }
    const std::string& text() const { return text_; }
    // The last bytes, which need not be the body's that was asked for: an extension may have put them there.
    void allowTail(std::size_t from, std::string tail) {
        tailFrom_ = from;
        tail_ = std::move(tail);
    }

private:
    void take(std::string_view piece);
    void readChunks(std::string& in);

    Framing framing_ = Framing::None;
    std::uint64_t id_ = 0;
    Direction direction_ = Direction::Answer;
    std::size_t length_ = 0;  // that is still to come, of the body or of the chunk
    bool inChunk_ = false;
    bool lastChunk_ = false;
    bool done_ = true;
    std::size_t size_ = 0;
    std::size_t tailFrom_ = static_cast<std::size_t>(-1);
    std::string tail_;
    bool collects_ = false;
    std::string text_;
    std::string fault_;
};

// One non-blocking socket with what has come and what is to go. Its descriptor is registered once, edge triggered.
struct Stream {
    int fd = -1;
    std::string in;
    std::string out;
    std::size_t sent = 0;   // of out
    bool readable = false;  // an event has told so, and reading has not found the end of it
    bool over = false;      // an event has told that the peer has closed or reset
    bool ended = false;     // the peer has closed its side
    bool broken = false;    // reset
    bool failed = false;    // so a write was told, and reading will not be told again

    // What epoll says of it.
    void noted(std::uint32_t events);
    // Reads all there is, and says how much it was.
    std::size_t pull();
    // Writes what the peer takes, of out's first `limit` bytes.
    void push(std::size_t limit = static_cast<std::size_t>(-1));
    bool flushed() const { return sent == out.size(); }
    void reset();  // RST to the peer
    void close();  // FIN, or RST if there is unread input
};

// A port of 127.0.0.1.
sockaddr_in loopback(int port);
// These two throw std::system_error when the system refuses. A socket that connects to such a port:
int beginConnect(int port);
// Registers for input and output, edge triggered.
void watch(int epoll, int fd, std::uint64_t data);

}  // namespace weir::soak
