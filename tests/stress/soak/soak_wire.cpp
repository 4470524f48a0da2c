#include "stress/soak/soak_wire.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace weir::soak {

namespace {

// Calls visit(value) for each line of that name.
template <class Visit>
void forEach(const std::string& head, std::string_view name, Visit visit) {
    for (std::size_t at = head.find("\r\n"); at + 4 < head.size();) {
        const std::size_t begin = at + 2;
        const std::size_t end = head.find("\r\n", begin);
        if (begin + name.size() < end && head[begin + name.size()] == ':' &&
            strncasecmp(head.data() + begin, name.data(), name.size()) == 0) {
            std::size_t value = begin + name.size() + 1;
            while (value < end && head[value] == ' ') ++value;
            visit(std::string_view(head).substr(value, end - value));
        }
        at = end;
    }
}

}  // namespace

std::optional<std::string_view> Head::field(std::string_view name) const {
    std::optional<std::string_view> found;
    forEach(text, name, [&](std::string_view value) {
        if (!found) found = value;
    });
    return found;
}

std::size_t Head::count(std::string_view name) const {
    std::size_t lines = 0;
    forEach(text, name, [&](std::string_view) { ++lines; });
    return lines;
}

std::optional<Head> takeHead(std::string& in) {
    const std::size_t end = in.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    Head head{in.substr(0, end + 4)};
    in.erase(0, end + 4);
    return head;
}

BodyReader::BodyReader(const Head& head, bool request, bool bodyless, std::uint64_t id, Direction direction)
    : id_(id), direction_(direction) {
    if (bodyless) return;
    const auto length = head.field("Content-Length");
    const bool chunked = head.says("Transfer-Encoding", "chunked");
    if (length && chunked) fault_ = "both Content-Length and chunks";
    if (length) {
        framing_ = Framing::Length;
        const auto [end, error] = std::from_chars(length->data(), length->data() + length->size(), length_);
        if (error != std::errc() || end != length->data() + length->size()) fault_ = "Content-Length is no number";
    } else if (chunked) {
        framing_ = Framing::Chunked;
    } else if (!request) {
        framing_ = Framing::UntilClose;
    }
    done_ = framing_ == Framing::None || (length && length_ == 0);
}

void BodyReader::read(std::string& in) {
    if (done_ || !fault_.empty()) return;
    if (framing_ == Framing::Chunked) return readChunks(in);
    const std::size_t piece = framing_ == Framing::Length ? std::min(in.size(), length_) : in.size();
    take(std::string_view(in).substr(0, piece));
    in.erase(0, piece);
    if (framing_ != Framing::Length) return;
    length_ -= piece;
    done_ = length_ == 0;
}

void BodyReader::readChunks(std::string& in) {
    std::size_t at = 0;
    while (!done_ && fault_.empty()) {
        if (inChunk_) {
            const std::size_t piece = std::min(in.size() - at, length_);
            take(std::string_view(in).substr(at, piece));
            at += piece;
            length_ -= piece;
            if (length_ > 0 || in.size() - at < 2) break;
            if (in.compare(at, 2, "\r\n") != 0) fault_ = "a chunk that does not end where it says";
            at += 2;
            inChunk_ = false;
            continue;
        }
        const std::size_t end = in.find("\r\n", at);
        if (end == std::string::npos) break;
        if (lastChunk_) {
            if (end != at) fault_ = "a trailer";
            done_ = true;
        } else {
            const auto [stop, error] = std::from_chars(in.data() + at, in.data() + end, length_, 16);
            if (error != std::errc() || stop != in.data() + end) fault_ = "a chunk's size is no number";
            inChunk_ = length_ > 0;
            lastChunk_ = length_ == 0;
        }
        at = end + 2;
    }
    in.erase(0, at);
}

void BodyReader::take(std::string_view piece) {
    if (collects_) {
        text_ += piece;
        size_ += piece.size();
        return;
    }
    const std::size_t own = size_ < tailFrom_ ? std::min(piece.size(), tailFrom_ - size_) : 0;
    if (!isBody(id_, direction_, size_, piece.substr(0, own)))
        fault_ = "other bytes in the body between " + std::to_string(size_) + " and " + std::to_string(size_ + own);
    if (own < piece.size()) {
        const std::size_t from = size_ + own - tailFrom_;
        if (from > tail_.size() || tail_.compare(from, piece.size() - own, piece.substr(own)) != 0)
            fault_ = "the body goes on behind its end";
    }
    size_ += piece.size();
}

void Stream::noted(std::uint32_t events) {
    over = over || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    readable = readable || over || (events & EPOLLIN);
}

std::size_t Stream::pull() {
    char buffer[64 * 1024];
    std::size_t got = 0;
    while (readable) {
        const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
        if (n > 0) {
            in.append(buffer, static_cast<std::size_t>(n));
            got += static_cast<std::size_t>(n);
            readable = over || n == sizeof buffer;
        } else if (n == 0) {
            (failed ? broken : ended) = true;
            readable = false;
        } else if (errno != EINTR) {
            broken = errno != EAGAIN;
            readable = false;
        }
    }
    return got;
}

void Stream::push(std::size_t limit) {
    const std::size_t end = std::min(limit, out.size());
    while (fd >= 0 && sent < end) {
        const ssize_t n = ::send(fd, out.data() + sent, end - sent, MSG_NOSIGNAL);
        if (n > 0) sent += static_cast<std::size_t>(n);
        else if (errno != EINTR) {
            failed = errno == ECONNRESET || errno == EPIPE;
            return;
        }
    }
}

void Stream::reset() {
    const linger now{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
}

void Stream::close() {
    if (fd >= 0) ::close(fd);
    *this = {};
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int beginConnect(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "socket");
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const sockaddr_in address = loopback(port);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EINPROGRESS)
        return fd;
    const int error = errno;
    ::close(fd);
    throw std::system_error(error, std::generic_category(), "connect");
}

void watch(int epoll, int fd, std::uint64_t data) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.u64 = data;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

}  // namespace weir::soak
