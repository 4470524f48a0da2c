#include "fuzz/fake_upstream.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/assert.hpp"
#include "fuzz/message_reader.hpp"

namespace weir::fuzz {

namespace {

constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

std::uint16_t portOf(int fd) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    WEIR_ASSERT(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
    return ntohs(address.sin_port);
}

// What the gateway writes itself, beyond being well formed.
void checkRequest(const ReadMessage& request) {
    WEIR_ASSERT(request.target.starts_with('/'));
    WEIR_ASSERT(request.count("Host") == 1 && !request.value("Host").empty());
    WEIR_ASSERT(request.count("X-Forwarded-For") == 1);
    for (const char* hop : {"Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "TE", "Trailer"})
        WEIR_ASSERT(request.count(hop) == 0);
    WEIR_ASSERT(request.count("Connection") == (request.count("Upgrade") > 0 ? 1 : 0));
    WEIR_ASSERT(request.count("Content_Length") == 0 && request.count("Transfer_Encoding") == 0);
}

}  // namespace

void resetSocket(int fd) {
    const linger now{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(fd);
}

int listenOnLoopback() {
    const int fd = ::socket(AF_INET, kType, 0);
    const sockaddr_in address = loopback(0);
    WEIR_ASSERT(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    WEIR_ASSERT(::listen(fd, 128) == 0);
    return fd;
}

int connectTo(int listener) {
    const int fd = ::socket(AF_INET, kType, 0);
    const sockaddr_in address = loopback(portOf(listener));
    const int connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    WEIR_ASSERT(connected == 0 || errno == EINPROGRESS);
    pollfd writable{fd, POLLOUT, 0};
    WEIR_ASSERT(::poll(&writable, 1, 10000) == 1);
    return fd;
}

FakeUpstream::FakeUpstream() : listener_(listenOnLoopback()) {}

FakeUpstream::~FakeUpstream() {
    end();
    ::close(listener_);
}

std::uint16_t FakeUpstream::port() const { return portOf(listener_); }

void FakeUpstream::begin(std::vector<std::string_view> answers) {
    answers_ = std::move(answers);
    answered_ = 0;
    requests_.clear();
}

bool FakeUpstream::accept() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) connections_.emplace_back().fd = fd;
    return fd >= 0;
}

bool FakeUpstream::receive() {
    bool moved = false;
    while (accept()) moved = true;
    for (std::size_t i = 0; i < connections_.size();) {
        const std::size_t before = connections_.size();
        if (read(connections_[i])) moved = true;
        if (connections_.size() == before) ++i;
    }
    return moved;
}

bool FakeUpstream::read(Connection& connection) {
    char bytes[4096];
    const ssize_t got = ::recv(connection.fd, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN) return false;
    if (got > 0) {
        if (connection.tunnel) return true;
        connection.unread.append(bytes, static_cast<std::size_t>(got));
        understand(connection);
        return true;
    }
    ::close(connection.fd);
    connections_.erase(connections_.begin() + (&connection - connections_.data()));
    return true;
}

void FakeUpstream::understand(Connection& connection) {
    while (!connection.unread.empty() && !connection.tunnel) {
        if (!std::exchange(connection.begun, true)) oweAnswer(connection);
        const ReadMessage request = readMessage(connection.unread, MessageKind::Request);
        if (request.state == ReadMessage::State::Malformed) std::fprintf(stderr, "%s\n", request.fault);
        WEIR_ASSERT(request.state != ReadMessage::State::Malformed);
        if (request.state == ReadMessage::State::Partial) return;
        checkRequest(request);
        requests_.push_back({std::string(request.method), request.body});
        connection.tunnel = request.count("Upgrade") > 0 && connection.owed.find(" 101") != std::string::npos;
        connection.unread.erase(0, request.size);
        connection.begun = false;
    }
}

void FakeUpstream::oweAnswer(Connection& connection) {
    if (answered_ < answers_.size()) connection.owed += answers_[answered_];
    ++answered_;
}

bool FakeUpstream::send(std::size_t size) {
    Connection* connection = newest();
    if (!connection || connection->owed.empty()) return false;
    size = std::min(size, connection->owed.size());
    const ssize_t sent = ::send(connection->fd, connection->owed.data(), size, MSG_NOSIGNAL);
    if (sent <= 0) {
        connection->owed.clear();
        return false;
    }
    connection->owed.erase(0, static_cast<std::size_t>(sent));
    return true;
}

bool FakeUpstream::closeNewest(bool reset) {
    if (connections_.empty()) return false;
    if (reset) resetSocket(connections_.back().fd);
    else ::close(connections_.back().fd);
    connections_.pop_back();
    return true;
}

bool FakeUpstream::closeAll() {
    bool any = false;
    while (closeNewest(false)) any = true;
    return any;
}

void FakeUpstream::end() {
    while (accept()) {
    }
    while (closeNewest(true)) {
    }
}

}  // namespace weir::fuzz
