#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/eventually.hpp"

namespace weir::support {

// An HTTP message as it came over the wire.
struct HttpMessage {
    std::string raw;        // head and body, byte by byte
    std::string startLine;  // without CR LF
    std::vector<std::pair<std::string, std::string>> fields;  // as sent, in order
    std::string body;       // without the chunks around it
    bool chunked = false;

    // The status of a response.
    int status() const;
    // The first of that name (any case), or nothing.
    std::optional<std::string> field(std::string_view name) const;
    std::size_t count(std::string_view name) const;
    bool has(std::string_view name) const { return count(name) > 0; }
};

// One end of a TCP connection on which a test speaks bytes. Each wait has a deadline of kDeadline; what goes wrong is
// a std::runtime_error. One thread at a time, but shutdown() may come from another.
class WireConnection {
public:
    // Takes over a connected, blocking socket.
    explicit WireConnection(int fd) : fd_(fd) {}
    WireConnection(WireConnection&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)), input_(std::move(other.input_)) {}
    WireConnection& operator=(WireConnection&&) = delete;
    virtual ~WireConnection() { close(); }

    int fd() const { return fd_; }

    void send(std::string_view bytes);
    // Sends what the peer takes within `patience`, and says how much that was.
    std::size_t sendSome(std::string_view bytes, std::chrono::milliseconds patience);

    // Exactly n bytes.
    std::string receive(std::size_t n);
    // At least one byte, at most n; empty when the peer has closed. A reset throws.
    std::string receiveSome(std::size_t n);
    // All bytes up to and with `end`.
    std::string receiveThrough(std::string_view end);
    // All bytes until the peer closes or resets.
    std::string receiveUntilClose();
    // One whole message framed by Content-Length or chunks; without either a request has no body and a response reads
    // until close. `bodyless`: the answer to HEAD. Nothing when the peer closed before the first byte; throws when it
    // closed later.
    std::optional<HttpMessage> message(bool bodyless = false);
    // Waits for the peer's close or reset; false when it sends something first, or the deadline passes.
    bool closedByPeer();

    void shutdownWrite();
    // Wakes a thread that waits in here.
    void shutdown();
    void close();
    // The close to come sends RST instead of FIN.
    void resetOnClose();

protected:
    // Sees all bytes as they come, before anything is made of them.
    virtual void arrived(std::string_view) {}

private:
    // Reads more into input_; false at the peer's close.
    bool fill();

    int fd_;
    std::string input_;
};

// A client on 127.0.0.1.
class RawClient : public WireConnection {
public:
    explicit RawClient(int port);

    // The next answer, which must come whole.
    HttpMessage response(bool bodyless = false);
    // Sends the bytes and returns the answer.
    HttpMessage exchange(std::string_view request, bool bodyless = false);
};

// One request on a connection of its own.
HttpMessage get(int port, const std::string& target);

// Whether somebody accepts connections there.
bool accepts(int port);

// A port on which nobody listens at the moment.
int unusedPort();

}  // namespace weir::support
