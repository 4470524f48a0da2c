#include "net/socket.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <Poco/Exception.h>
#include <Poco/Net/DNS.h>
#include <Poco/Net/HostEntry.h>
#include <Poco/Net/IPAddress.h>
#include <Poco/Net/SocketAddress.h>
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace weir::net {

using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

Error systemError(const Endpoint& endpoint, const char* what, int error) {
    std::string origin = endpoint.text();
    const std::string address = endpoint.addressText();
    if (address != origin) origin += " (" + address + ")";
    return {ErrorCode::Io, std::move(origin), what + (": " + std::generic_category().message(error)), true};
}

Error notAnAddress(const std::string& text) {
    return {ErrorCode::InvalidConfig, text, "expected a host name or an IP address"};
}

template <class Call>
ssize_t retryInterrupted(Call call) {
    for (;;) {
        const ssize_t count = call();
        if (count >= 0) return count;
        if (errno != EINTR) return -errno;
    }
}

// recv() and send() are cancellation points: in a program with threads the C library pays for that with two atomic
// exchanges a call, and no thread here is ever cancelled. So the system is called without them, but where a sanitizer
// wants to see what is read and written.
#if defined(WEIR_SANITIZED)
ssize_t receive(int fd, void* data, std::size_t size) { return ::recv(fd, data, size, 0); }
ssize_t transmit(int fd, const void* data, std::size_t size) { return ::send(fd, data, size, MSG_NOSIGNAL); }
#else
ssize_t receive(int fd, void* data, std::size_t size) {
    return ::syscall(SYS_recvfrom, fd, data, size, 0, nullptr, nullptr);
}
ssize_t transmit(int fd, const void* data, std::size_t size) {
    return ::syscall(SYS_sendto, fd, data, size, MSG_NOSIGNAL, nullptr, 0);
}
#endif

}  // namespace

PeerAddress::PeerAddress(const sockaddr_storage& address) {
    const void* number = nullptr;
    int family = address.ss_family;
    if (family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        number = &v4.sin_addr;
        port_ = ntohs(v4.sin_port);
    } else if (family == AF_INET6) {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        number = &v6.sin6_addr;
        port_ = ntohs(v6.sin6_port);
        if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
            number = &v6.sin6_addr.s6_addr[12];
            family = AF_INET;
        }
    }
    char text[INET6_ADDRSTRLEN];
    if (!number || !::inet_ntop(family, number, text, sizeof text)) return;
    length_ = static_cast<std::uint8_t>(std::strlen(text));
    std::memcpy(text_, text, length_);
}

Endpoint::Endpoint(std::string text, const sockaddr* address, socklen_t length)
    : length_(length), text_(std::move(text)) {
    WEIR_ASSERT(length == sizeof(sockaddr_in) || length == sizeof(sockaddr_in6));
    std::memcpy(&address_, address, length);
}

std::uint16_t Endpoint::port() const { return ntohs(isIpv6() ? address_.v6.sin6_port : address_.v4.sin_port); }

std::string Endpoint::addressText() const {
    return Poco::Net::SocketAddress(address(), length_).toString();
}

bool Endpoint::operator==(const Endpoint& other) const {
    if (length_ != other.length_ || port() != other.port()) return false;
    if (!isIpv6()) return address_.v4.sin_addr.s_addr == other.address_.v4.sin_addr.s_addr;
    return address_.v6.sin6_scope_id == other.address_.v6.sin6_scope_id &&
           std::memcmp(&address_.v6.sin6_addr, &other.address_.v6.sin6_addr, sizeof(in6_addr)) == 0;
}

Result<std::vector<Endpoint>> resolve(const std::string& host, std::uint16_t port) {
    const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
    const std::string name = bracketed ? host.substr(1, host.size() - 2) : host;
    const bool literal6 = name.find(':') != std::string::npos;
    const std::string text = (literal6 ? "[" + name + "]" : host) + ":" + std::to_string(port);
    std::vector<Endpoint> endpoints;
    if (name.empty() || (bracketed && !literal6)) return notAnAddress(text);
    if (name == "localhost") {  // RFC 6761 6.3: always the loopback addresses, whatever the machine's files say
        for (const char* loopback : {"127.0.0.1", "::1"}) {
            const Poco::Net::SocketAddress address(Poco::Net::IPAddress(loopback), port);
            endpoints.emplace_back(text, address.addr(), address.length());
        }
        return endpoints;
    }
    using Poco::Net::DNS;
    try {
        // The resolver itself takes literals as they are; Poco's own parser refuses "::" and accepts "1::2::3".
        // No AI_ADDRCONFIG: it would hide addresses on a machine with nothing but the loopback interface.
        const auto entry = DNS::hostByName(name, literal6 ? DNS::DNS_HINT_AI_NUMERICHOST : DNS::DNS_HINT_NONE);
        for (const Poco::Net::IPAddress& ip : entry.addresses()) {  // sorted, IPv4 first
            const Poco::Net::SocketAddress address(ip, port);
            endpoints.emplace_back(text, address.addr(), address.length());
        }
    } catch (const Poco::Exception& e) {
        if (literal6) return notAnAddress(text);
        return Error{ErrorCode::Io, text, "cannot resolve: " + e.displayText(), true};
    }
    if (endpoints.empty()) return Error{ErrorCode::Io, text, "cannot resolve: the name has no address", true};
    return endpoints;
}

Result<int> startConnect(const Endpoint& endpoint) {
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    const int fd = ::socket(endpoint.address()->sa_family, type, IPPROTO_TCP);
    if (fd < 0) return systemError(endpoint, "socket", errno);
    setNoDelay(fd);
    // An interrupted connect goes on by itself, so EINTR is as good as EINPROGRESS.
    if (::connect(fd, endpoint.address(), endpoint.length()) == 0 || errno == EINPROGRESS || errno == EINTR) return fd;
    const int error = errno;
    ::close(fd);
    return systemError(endpoint, "connect", error);
}

int socketError(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

void setNoDelay(int fd) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

ssize_t readSome(int fd, void* data, std::size_t size) {
    return retryInterrupted([&] { return receive(fd, data, size); });
}

ssize_t writeSome(int fd, const void* data, std::size_t size) {
    return retryInterrupted([&] { return transmit(fd, data, size); });
}

ssize_t writeSome(int fd, const iovec* parts, std::size_t count) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = count;
    return retryInterrupted([&] { return ::sendmsg(fd, &message, MSG_NOSIGNAL); });
}

}  // namespace weir::net
