#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/result.hpp"

namespace weir::net {

// Who is at the other end, formatted once. 48 bytes, because every connection keeps one.
class PeerAddress {
public:
    PeerAddress() = default;
    // An IPv4 address that came through an IPv6 listener reads as IPv4. Other families have an empty text.
    explicit PeerAddress(const sockaddr_storage& address);

    // Without port and brackets: "127.0.0.1", "2001:db8::1". Lives as long as this object.
    std::string_view text() const { return {text_, length_}; }
    std::uint16_t port() const { return port_; }

private:
    std::uint16_t port_ = 0;
    std::uint8_t length_ = 0;
    char text_[45];  // the longest IPv6 text, not terminated
};

// An address to connect or bind to: what a name and a port resolved to.
class Endpoint {
public:
    // `text` names it to people; `address` is AF_INET or AF_INET6.
    Endpoint(std::string text, const sockaddr* address, socklen_t length);

    const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
    socklen_t length() const { return length_; }
    bool isIpv6() const { return length_ == sizeof(sockaddr_in6); }
    std::uint16_t port() const;
    const std::string& text() const { return text_; }  // "host:port" as asked for; IPv6 literals in brackets
    std::string addressText() const;                   // the numbers: "127.0.0.1:8189", "[::1]:8189"

    // The same address; the text does not count.
    bool operator==(const Endpoint& other) const;

private:
    union {
        sockaddr_in v4;
        sockaddr_in6 v6;
    } address_{};
    socklen_t length_;
    std::string text_;
};

// A name's addresses, IPv4 before IPv6, each ascending, at least one; try them in order. Literals ("::1", "[::1]" too)
// and "localhost" need no lookup, everything else BLOCKS for as long as the resolver likes: call it off the loop. Any
// thread. A failed lookup is retryable.
base::Result<std::vector<Endpoint>> resolve(const std::string& host, std::uint16_t port);

// Starts a connect on a new descriptor (non-blocking, close-on-exec, TCP_NODELAY), which is the caller's. It may be
// under way: register it, clearWritable(), and once writable ask socketError(). An immediate refusal is the Error,
// retryable.
base::Result<int> startConnect(const Endpoint& endpoint);

// The pending error of a socket (SO_ERROR), which this clears; 0 when there is none. After a connect: its outcome.
int socketError(int fd);

void setNoDelay(int fd);

// Non-blocking transfers on a socket: how many bytes, 0 at the peer's end of stream (reading only), or -errno; -EAGAIN:
// wait for the edge. EINTR is tried again and SIGPIPE never raised.
ssize_t readSome(int fd, void* data, std::size_t size);
ssize_t writeSome(int fd, const void* data, std::size_t size);
ssize_t writeSome(int fd, const iovec* parts, std::size_t count);  // at most IOV_MAX (1024) parts

}  // namespace weir::net
