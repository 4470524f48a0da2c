#include "gateway/gateway_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <limits>
#include <thread>

#include "base/log.hpp"
#include "gateway/client_connection.hpp"

namespace weir::gateway {

RequestLimits::RequestLimits(const config::Settings& settings, std::uint32_t loops)
    : path{settings.server.dotSegments, settings.server.doubleSlashes, settings.server.encodedSlashes},
      header(settings.server.headerTimeout),
      body(settings.server.bodyTimeout),
      keepAlive(settings.server.keepAliveTimeout),
      tunnel(settings.server.tunnelTimeout),
      connect(settings.upstream.connectTimeout),
      upstreamBody(settings.upstream.bodyTimeout),
      ejection{static_cast<std::uint32_t>(settings.upstream.ejection.failures), settings.upstream.ejection.base,
               settings.upstream.ejection.max},
      replayBody(settings.upstream.replayBodyBytes),
      maxConnections(static_cast<std::uint32_t>(settings.server.maxConnections)),
      maxRunning(static_cast<std::uint32_t>((settings.server.maxRequests + loops - 1) / loops)),
      maxBody(settings.server.maxRequestBodyBytes ? settings.server.maxRequestBodyBytes
                                                  : std::numeric_limits<std::uint64_t>::max()),
      minRate(settings.server.minRate),
      halfClose(settings.server.halfClose),
      methods(settings.server.methods) {
    parse.fieldBytes = static_cast<std::uint32_t>(settings.server.maxRequestHeaderBytes);
    for (const std::string& method : methods) allow += (allow.empty() ? "" : ", ") + method;
    if (allow.empty()) allow = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
}

bool RequestLimits::allows(std::string_view method) const {
    return methods.empty() || std::find(methods.begin(), methods.end(), method) != methods.end();
}

namespace {
constexpr std::uint32_t kTurnedAway = 256;  // connections beyond the limit that get an answer; more are just closed

upstream::ConnectionPool::Limits poolLimits(const config::Settings& settings) {
    upstream::ConnectionPool::Limits limits;
    limits.maxIdle = static_cast<std::uint32_t>(settings.upstream.maxIdle);
    limits.idleTimeout = settings.upstream.keepAliveTimeout;
    return limits;
}
}  // namespace

GatewayLoop::GatewayLoop(std::uint32_t number, std::uint32_t loops, const config::Settings& settings,
                         chain::WorkerPool& workers, std::atomic<std::uint32_t>& connections, AccessLog* log,
                         std::function<void(std::shared_ptr<const chain::Snapshot>)> giveBack)
    : context(events, workers, std::move(giveBack)),
      upstreams(events, context.buffers, poolLimits(settings)),
      acceptor(events, *this),
      limits(settings, loops),
      tracing(settings.server),
      accessLog(log ? std::make_unique<LoopAccessLog>(*log, events) : nullptr),
      connections_(connections),
      drainTimer_([](void* self) { static_cast<GatewayLoop*>(self)->abortAll(); }, this),
      via_(settings.server.via.text),
      additions_{via_, settings.server.forwarded, {}} {
    context.number = number;
    context.shenyuStatuses = settings.compat.errorStatus == config::ErrorStatus::Shenyu;
    context.retryBudget = {static_cast<std::uint32_t>(settings.upstream.retryBudget.percent),
                           static_cast<std::uint32_t>(settings.upstream.retryBudget.minConcurrent)};
}

GatewayLoop::~GatewayLoop() { acceptor.close(); }

std::uint32_t GatewayLoop::countFor(const config::Settings& settings) {
    if (settings.server.threads > 0) return static_cast<std::uint32_t>(settings.server.threads);
    return std::max(1u, std::thread::hardware_concurrency());
}

void GatewayLoop::addTo(manage::Traffic& traffic) const {
    requests.addTo(traffic);
    traffic.running += running_;
    traffic.accepted += acceptor.counters().accepted;
    traffic.refused += acceptor.counters().refused;
    traffic.upstreamOpen += upstreams.counters().open;
    traffic.upstreamIdle += upstreams.counters().idle;
    traffic.upstreamOpened += upstreams.counters().opened;
    traffic.upstreamReused += upstreams.counters().reused;
    events.busy().addTo(traffic.loopBusy);
}

void GatewayLoop::run() {
    events.run();
    if (accessLog) accessLog->handOverRest();
}

void GatewayLoop::onAccepted(int fd, const net::PeerAddress& peer) {
    const std::uint32_t open = connections_.load(std::memory_order_relaxed);
    if (open >= limits.maxConnections) {
        if (open < limits.maxConnections + kTurnedAway) ClientConnection::turnAway(*this, fd, peer);
        else ::close(fd);
        if (events.nowMs() >= nextFullReportMs_) {
            nextFullReportMs_ = events.nowMs() + 1000;
            base::logWarning("server.maxConnections (" + std::to_string(limits.maxConnections) +
                             ") is reached: new connections are answered 503");
        }
        return;
    }
    ClientConnection::open(*this, fd, peer);
}

void GatewayLoop::onAcceptFailed(int error, std::uint64_t refused) {
    base::logWarning("accept: " + std::string(std::strerror(error)) + "; " + std::to_string(refused) +
                     " connections were closed unserved so far");
}

// The date changes once a second, and is written then only (RFC 9110 5.6.7).
const http::Additions& GatewayLoop::additions() {
    if (events.nowMs() < dateExpiresMs_) [[likely]] return additions_;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    gmtime_r(&now.tv_sec, &parts);
    const std::size_t size = std::strftime(date_, sizeof date_, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    additions_.date = {date_, size};
    dateExpiresMs_ = events.nowMs() + 1000 - static_cast<std::uint64_t>(now.tv_nsec / 1000000);
    return additions_;
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
