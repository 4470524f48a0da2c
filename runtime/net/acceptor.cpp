#include "net/acceptor.hpp"

#include <cerrno>
#include <system_error>

#include <Poco/Exception.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/SocketAddress.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace weir::net {

using base::Error;
using base::ErrorCode;
using base::Result;

namespace {

constexpr int kBacklog = 1024;
constexpr std::uint64_t kReportEveryMs = 1000;

int openReserve() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

// The socket's own trouble, or the peer's and the network's, which concerns one connection only (accept(2)).
bool concernsOneConnection(int error) {
    switch (error) {
        case EINTR:
        case ECONNABORTED:
        case EPROTO:
        case EPERM:
        case ENETDOWN:
        case ENETUNREACH:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENONET:
        case ENOPROTOOPT:
        case EOPNOTSUPP:
            return true;
        default:
            return false;
    }
}

int acceptOn(int listener, sockaddr_storage& peer) {
    socklen_t length = sizeof peer;
    return ::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

Poco::Net::ServerSocket bound(const Poco::Net::SocketAddress& address, bool reusePort) {
    Poco::Net::ServerSocket socket;
    if (address.family() == Poco::Net::SocketAddress::IPv6) {
        socket.bind6(address, true, reusePort, false);
    } else {
        socket.bind(address, true, reusePort);
    }
    return socket;
}

Error cannotListen(const Endpoint& endpoint, const std::string& reason) {
    return {ErrorCode::Io, endpoint.text(), "cannot listen: " + reason};
}

std::string reasonOf(int error) { return std::generic_category().message(error); }

}  // namespace

Acceptor::Acceptor(EventLoop& loop, AcceptHandler& handler)
    : loop_(loop),
      handler_(handler),
      resumeTimer_([](void* self) { static_cast<Acceptor*>(self)->resume(); }, this),
      reserve_(openReserve()) {}

Acceptor::~Acceptor() {
    if (listening()) loop_.close(*this);
    if (reserve_ >= 0) ::close(reserve_);
}

Result<void> Acceptor::bind(const std::string& host, std::uint16_t port) {
    const Result<std::vector<Endpoint>> endpoints = resolve(host, port);
    if (!endpoints) return endpoints.error();
    const Endpoint& endpoint = endpoints.value().front();
    if (port != 0) {
        // SO_REUSEPORT would silently share the port with another gateway of this user; without it the system objects.
        try {
            bound(Poco::Net::SocketAddress(endpoint.address(), endpoint.length()), false);
        } catch (const Poco::Exception& e) {
            return cannotListen(endpoint, e.code() ? reasonOf(e.code()) : e.displayText());
        }
    }
    return listenOn(endpoint);
}

Result<void> Acceptor::bindBeside(const Acceptor& first) {
    WEIR_ASSERT(first.endpoint_);
    return listenOn(*first.endpoint_);
}

Result<void> Acceptor::listenOn(const Endpoint& endpoint) {
    WEIR_ASSERT(!listening());
    try {
        auto socket = bound(Poco::Net::SocketAddress(endpoint.address(), endpoint.length()), true);
        socket.listen(kBacklog);
        socket.setBlocking(false);
        const Poco::Net::SocketAddress address = socket.address();
        endpoint_.emplace(address.toString(), address.addr(), address.length());
        // The loop closes its descriptors itself, and Poco's socket does so too: each gets one of its own.
        const int fd = ::fcntl(socket.impl()->sockfd(), F_DUPFD_CLOEXEC, 0);
        if (fd < 0) return cannotListen(endpoint, reasonOf(errno));
        if (!loop_.addListener(*this, fd)) {
            const int error = errno;
            ::close(fd);
            return cannotListen(endpoint, reasonOf(error));
        }
    } catch (const Poco::Exception& e) {
        return cannotListen(endpoint, e.code() ? reasonOf(e.code()) : e.displayText());
    }
    return {};
}

void Acceptor::close() {
    if (!listening() || closing_) return;
    closing_ = true;  // the handler may call this again
    acceptUpTo(kBacklog);
    closing_ = false;
    resumeTimer_.disarm();
    loop_.close(*this);
}

void Acceptor::onReady() {
    clearReadable();
    acceptUpTo(kBatch);
}

void Acceptor::acceptUpTo(int limit) {
    for (int i = 0; i < limit && listening(); ++i) {
        sockaddr_storage peer;
        const int accepted = acceptOn(fd(), peer);
        if (accepted < 0) {
            if (acceptFailed(errno)) continue;
            return;
        }
        setNoDelay(accepted);
        ++counters_.accepted;
        handler_.onAccepted(accepted, PeerAddress(peer));
    }
}

// Whether to go on accepting.
bool Acceptor::acceptFailed(int error) {
    if (error == EAGAIN) return false;
    if (concernsOneConnection(error)) return true;
    int outcome = error;
    if (error == EMFILE || error == ENFILE) outcome = refuseOne();
    if (outcome == EAGAIN) return false;
    if (outcome != 0) pause();
    if (loop_.nowMs() >= nextReportMs_) {
        nextReportMs_ = loop_.nowMs() + kReportEveryMs;
        handler_.onAcceptFailed(error, counters_.refused);
    }
    return outcome == 0;
}

// 0: one connection was closed. EAGAIN: there was none. Another errno: the reserve did not help.
int Acceptor::refuseOne() {
    if (reserve_ < 0) reserve_ = openReserve();
    if (reserve_ < 0) return errno;
    ::close(reserve_);
    sockaddr_storage peer;
    const int accepted = acceptOn(fd(), peer);
    const int error = errno;
    if (accepted >= 0) ::close(accepted);
    reserve_ = openReserve();
    if (accepted < 0) return error;
    ++counters_.refused;
    return 0;
}

void Acceptor::pause() {
    if (resumeTimer_.armed()) return;
    ++counters_.pauses;
    loop_.pauseListener(*this);
    resumeTimer_.arm(loop_, kPause);
}

void Acceptor::resume() { loop_.resumeListener(*this); }

}  // namespace weir::net
