#include "support/recording_upstream.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace weir::support {

RecordingUpstream::RecordingUpstream(Reply reply, int port, const std::string& host)
    : RecordingUpstream(
          Serve([reply = std::move(reply)](Connection& connection) {
              while (auto request = connection.next()) connection.send(reply(*request));
          }),
          port, host) {}

RecordingUpstream::RecordingUpstream(Serve serve, int port, const std::string& host)
    : serve_(std::move(serve)), host_(host) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int one = 1;  // connections of one that was here before may linger
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    socklen_t size = sizeof address;
    const int reuse = 1;  // the port of one that was killed may have connections that are not quite over
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 1024) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::system_error(errno, std::generic_category(), "cannot listen");
    }
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept(); });
}

RecordingUpstream::~RecordingUpstream() {
    shutdown(listener_, SHUT_RDWR);  // ends the accept call
    acceptor_.join();
    close(listener_);
    {
        std::lock_guard lock(mutex_);
        for (auto& connection : connections_) {
            if (connection->fd() >= 0) connection->shutdown();
        }
    }
    for (auto& thread : threads_) thread.join();
}

void RecordingUpstream::accept() {
    for (;;) {
        int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return;
        }
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        std::lock_guard lock(mutex_);
        auto& connection = *connections_.emplace_back(std::make_unique<Connection>(fd, *this));
        threads_.emplace_back([this, &connection] { run(connection); });
        changed_.notify_all();
    }
}

void RecordingUpstream::run(Connection& connection) {
    try {
        serve_(connection);
    } catch (const std::exception&) {
        // The gateway closed or reset in the middle: what the tests provoke, and see as an ended connection.
    }
    std::lock_guard lock(mutex_);
    connection.close();
    ++ended_;
    changed_.notify_all();
}

std::optional<HttpMessage> RecordingUpstream::Connection::next() {
    auto request = message();
    if (request) {
        std::lock_guard lock(upstream_.mutex_);
        upstream_.requests_.push_back(*request);
        upstream_.changed_.notify_all();
    }
    return request;
}

void RecordingUpstream::Connection::arrived(std::string_view bytes) {
    std::lock_guard lock(upstream_.mutex_);
    upstream_.received_ += bytes.substr(0, kKeptBytes - upstream_.received_.size());
}

std::vector<HttpMessage> RecordingUpstream::requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
}

std::string RecordingUpstream::received() const {
    std::lock_guard lock(mutex_);
    return received_;
}

std::size_t RecordingUpstream::connections() const {
    std::lock_guard lock(mutex_);
    return connections_.size();
}

std::size_t RecordingUpstream::ended() const {
    std::lock_guard lock(mutex_);
    return ended_;
}

bool RecordingUpstream::waitForRequests(std::size_t n) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return requests_.size() >= n; });
}

bool RecordingUpstream::waitForEnded(std::size_t n) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return ended_ >= n; });
}

std::string RecordingUpstream::ok(const std::string& body, const std::string& fields) {
    return "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

void Gate::open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
}

bool Gate::wait() const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kDeadline, [&] { return open_; });
}

}  // namespace weir::support
