#include "gateway/gateway_loop.hpp"

#include <unistd.h>

#include <cstring>

#include "base/log.hpp"
#include "gateway/client_connection.hpp"

namespace weir::gateway {

RequestLimits::RequestLimits(const config::Settings& settings)
    : header(settings.server.headerTimeout),
      body(settings.server.bodyTimeout),
      keepAlive(settings.server.keepAliveTimeout),
      connect(settings.upstream.connectTimeout),
      upstreamBody(settings.upstream.bodyTimeout),
      maxConnections(static_cast<std::uint32_t>(settings.server.maxConnections)) {
    parse.fieldBytes = static_cast<std::uint32_t>(settings.server.maxRequestHeaderBytes);
}

namespace {
upstream::ConnectionPool::Limits poolLimits(const config::Settings& settings) {
    upstream::ConnectionPool::Limits limits;
    limits.maxIdle = static_cast<std::uint32_t>(settings.upstream.maxIdle);
    limits.idleTimeout = settings.upstream.keepAliveTimeout;
    return limits;
}
}  // namespace

GatewayLoop::GatewayLoop(std::uint32_t index, const config::Settings& settings, chain::WorkerPool& workers,
                         std::atomic<std::uint32_t>& connections,
                         std::function<void(std::shared_ptr<const chain::Snapshot>)> giveBack)
    : context(events, workers, std::move(giveBack)),
      upstreams(events, context.buffers, poolLimits(settings)),
      acceptor(events, *this),
      limits(settings),
      index_(index),
      connections_(connections),
      drainTimer_([](void* self) { static_cast<GatewayLoop*>(self)->abortAll(); }, this) {
    context.shenyuStatuses = settings.compat.errorStatus == config::ErrorStatus::Shenyu;
}

GatewayLoop::~GatewayLoop() { acceptor.close(); }

void GatewayLoop::run() { events.run(); }

void GatewayLoop::onAccepted(int fd, const net::PeerAddress& peer) {
    if (connections_.load(std::memory_order_relaxed) >= limits.maxConnections) {
        ::close(fd);
        if (events.nowMs() >= nextFullReportMs_) {
            nextFullReportMs_ = events.nowMs() + 1000;
            base::logWarning("server.maxConnections (" + std::to_string(limits.maxConnections) +
                             ") is reached: new connections are closed");
        }
        return;
    }
    ClientConnection::open(*this, fd, peer);
}

void GatewayLoop::onAcceptFailed(int error, std::uint64_t refused) {
    base::logWarning("accept: " + std::string(std::strerror(error)) + "; " + std::to_string(refused) +
                     " connections were closed unserved so far");
}

void GatewayLoop::opened(ClientConnection& connection) {
    connections_.fetch_add(1, std::memory_order_relaxed);
    connection.next_ = first_;
    connection.link_ = &first_;
    if (first_) first_->link_ = &connection.next_;
    first_ = &connection;
}

void GatewayLoop::closed(ClientConnection& connection) {
    connections_.fetch_sub(1, std::memory_order_relaxed);
    *connection.link_ = connection.next_;
    if (connection.next_) connection.next_->link_ = connection.link_;
    stopWhenEmpty();
}

void GatewayLoop::drain(net::Milliseconds timeout) {
    events.post([this, timeout] { beginDrain(timeout); });
}

void GatewayLoop::beginDrain(net::Milliseconds timeout) {
    if (draining_) return;
    draining_ = true;
    acceptor.close();
    for (ClientConnection* connection = first_; connection;) {
        ClientConnection* next = connection->next_;
        connection->drain();
        connection = next;
    }
    drainTimer_.arm(events, timeout);
    stopWhenEmpty();
}

void GatewayLoop::abortAll() {
    std::uint32_t aborted = 0;
    for (ClientConnection* connection = first_; connection; ++aborted) {
        ClientConnection* next = connection->next_;
        connection->abort();
        connection = next;
    }
    if (aborted)
        base::logWarning("server.drainTimeout is over: " + std::to_string(aborted) + " connections were cut");
}

void GatewayLoop::stopWhenEmpty() {
    if (draining_ && !first_) events.stop();
}

}  // namespace weir::gateway
