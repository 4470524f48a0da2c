#include "support/wire_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace weir::support {

namespace {

// False at the deadline.
bool waitFor(int fd, short events, std::chrono::milliseconds deadline) {
    pollfd waiting{fd, events, 0};
    int ready = 0;
    do {
        ready = poll(&waiting, 1, static_cast<int>(deadline.count()));
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

bool sameName(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// 127.0.0.1:port, or -1 when refused.
int connectTo(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        ::close(fd);
        return -1;
    }
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

void parseHead(const std::string& head, HttpMessage& message) {
    auto at = head.find("\r\n");
    message.startLine = head.substr(0, at);
    for (at += 2; at + 2 < head.size();) {
        auto end = head.find("\r\n", at);
        auto line = head.substr(at, end - at);
        auto colon = line.find(':');
        if (colon == std::string::npos) throw std::runtime_error("a header line without a colon: " + line);
        auto value = line.find_first_not_of(" \t", colon + 1);
        message.fields.emplace_back(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
        at = end + 2;
    }
    message.chunked = sameName(message.field("Transfer-Encoding").value_or(""), "chunked");
}

bool hasNoBody(const HttpMessage& response) {
    int status = response.status();
    return status / 100 == 1 || status == 204 || status == 304;
}

}  // namespace

int HttpMessage::status() const {
    if (startLine.rfind("HTTP/", 0) != 0) throw std::runtime_error("no status line: " + startLine);
    return std::stoi(startLine.substr(startLine.find(' ') + 1));
}

std::optional<std::string> HttpMessage::field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
        if (sameName(key, name)) return value;
    }
    return std::nullopt;
}

std::size_t HttpMessage::count(std::string_view name) const {
    return static_cast<std::size_t>(
        std::count_if(fields.begin(), fields.end(), [&](const auto& f) { return sameName(f.first, name); }));
}

void WireConnection::send(std::string_view bytes) {
    auto sent = sendSome(bytes, kDeadline);
    if (sent < bytes.size()) throw std::runtime_error("the peer takes no more bytes");
}

std::size_t WireConnection::sendSome(std::string_view bytes, std::chrono::milliseconds patience) {
    std::size_t sent = 0;
    while (sent < bytes.size() && waitFor(fd_, POLLOUT, patience)) {
        auto n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN) throw std::system_error(errno, std::generic_category(), "send");
        if (n > 0) sent += static_cast<std::size_t>(n);
    }
    return sent;
}

bool WireConnection::fill() {
    if (!waitFor(fd_, POLLIN, kDeadline)) {
        throw std::runtime_error("nothing came within the deadline; so far: " + input_.substr(0, 1000));
    }
    char buffer[64 * 1024];
    auto n = recv(fd_, buffer, sizeof buffer, 0);
    if (n < 0) throw std::system_error(errno, std::generic_category(), "recv");
    arrived({buffer, static_cast<std::size_t>(n)});
    input_.append(buffer, static_cast<std::size_t>(n));
    return n > 0;
}

std::string WireConnection::receive(std::size_t n) {
    while (input_.size() < n) {
        if (!fill()) throw std::runtime_error("closed after: " + input_.substr(0, 1000));
    }
    auto result = input_.substr(0, n);
    input_.erase(0, n);
    return result;
}

std::string WireConnection::receiveSome(std::size_t n) {
    if (input_.empty()) fill();
    auto result = input_.substr(0, n);
    input_.erase(0, n);
    return result;
}

std::string WireConnection::receiveThrough(std::string_view end) {
    std::size_t found = 0;
    while ((found = input_.find(end)) == std::string::npos) {
        if (!fill()) throw std::runtime_error("closed after: " + input_.substr(0, 1000));
    }
    return receive(found + end.size());
}

std::string WireConnection::receiveUntilClose() {
    try {
        while (fill()) {
        }
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::connection_reset) throw;
    }
    return std::exchange(input_, {});
}

std::optional<HttpMessage> WireConnection::message(bool bodyless) {
    if (input_.empty() && !fill()) return std::nullopt;
    HttpMessage message;
    message.raw = receiveThrough("\r\n\r\n");
    parseHead(message.raw, message);
    bool isResponse = message.startLine.rfind("HTTP/", 0) == 0;
    if (bodyless || (isResponse && hasNoBody(message))) return message;
    if (message.chunked) {
        for (std::size_t size = 1; size > 0;) {
            auto line = receiveThrough("\r\n");
            size = std::stoul(line, nullptr, 16);
            auto chunk = size > 0 ? receive(size) : "";
            auto end = receiveThrough("\r\n");
            if (end != "\r\n") throw std::runtime_error("a chunk is longer than it says, or a trailer came: " + end);
            message.raw += line + chunk + end;
            message.body += chunk;
        }
    } else if (auto length = message.field("Content-Length")) {
        message.body = receive(std::stoul(*length));
        message.raw += message.body;
    } else if (isResponse) {
        message.body = receiveUntilClose();
        message.raw += message.body;
    }
    return message;
}

bool WireConnection::closedByPeer() {
    if (!input_.empty() || !waitFor(fd_, POLLIN, kDeadline)) return false;
    char byte;
    return recv(fd_, &byte, 1, MSG_PEEK) <= 0;
}

void WireConnection::shutdownWrite() { ::shutdown(fd_, SHUT_WR); }

void WireConnection::shutdown() { ::shutdown(fd_, SHUT_RDWR); }

void WireConnection::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void WireConnection::resetOnClose() {
    linger immediately{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &immediately, sizeof immediately);
}

RawClient::RawClient(int port) : WireConnection(connectTo(port)) {
    if (fd() < 0) throw std::runtime_error("nobody listens on port " + std::to_string(port));
}

HttpMessage RawClient::response(bool bodyless) {
    auto answer = message(bodyless);
    if (!answer) throw std::runtime_error("closed without an answer");
    return *std::move(answer);
}

HttpMessage RawClient::exchange(std::string_view request, bool bodyless) {
    send(request);
    return response(bodyless);
}

HttpMessage get(int port, const std::string& target) {
    return RawClient(port).exchange("GET " + target + " HTTP/1.1\r\nHost: weir.test\r\n\r\n");
}

bool accepts(int port) {
    int fd = connectTo(port);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

int unusedPort() {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::system_error(errno, std::generic_category(), "no free port");
    }
    close(fd);
    return ntohs(address.sin_port);
}

}  // namespace weir::support
