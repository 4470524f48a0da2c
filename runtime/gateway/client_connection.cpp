#include "gateway/client_connection.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace weir::gateway {

namespace {
constexpr net::Milliseconds kLinger{2000};
}  // namespace

// ---- Life ----

ClientConnection::ClientConnection(GatewayLoop& loop, const net::PeerAddress& peer)
    : loop_(loop), timer_(&ClientConnection::onTimer, this), peer_(peer) {}

void ClientConnection::open(GatewayLoop& loop, int fd, const net::PeerAddress& peer) {
    std::unique_ptr<ClientConnection> connection(new ClientConnection(loop, peer));
    if (!loop.events.add(*connection, fd)) {
        ::close(fd);
        return;
    }
    connection->timer_.arm(loop.events, loop.limits.header);  // the first request must come
    loop.opened(*connection.release());
}

void ClientConnection::turnAway(GatewayLoop& loop, int fd, const net::PeerAddress& peer) {
    std::unique_ptr<ClientConnection> connection(new ClientConnection(loop, peer));
    if (!loop.events.add(*connection, fd)) {
        ::close(fd);
        return;
    }
    connection->overLimit_ = true;
    connection->timer_.arm(loop.events, kLinger);
    loop.opened(*connection.release());
}

void ClientConnection::close() {
    if (phase_ == Phase::Dead) return;
    const bool answered = phase_ == Phase::Drain || (tunnel_ && responseDone_);
    phase_ = Phase::Dead;
    timer_.disarm();
    out_.clear();
    loop_.events.close(*this);
    if (exchange_) {
        // released() goes on, now or when offloaded work is done
        finishExchange(answered ? WEIR_FINISH_OK : WEIR_FINISH_ABORTED);
    } else {
        giveBuffers();
        loop_.events.retire(std::unique_ptr<ClientConnection>(this));
        loop_.closed(*this);
    }
}

void ClientConnection::abort() {
    if (phase_ == Phase::Dead) return;
    // A reset, so that a body which ends with the connection is not taken for whole.
    const linger reset{1, 0};
    ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close();
}

void ClientConnection::drain() {
    keepAlive_ = false;
    if (phase_ == Phase::Idle) close();
}

void ClientConnection::giveBuffers() {
    for (net::Buffer** buffer : {&in_, &bodyIn_})
        if (*buffer) loop_.context.buffers.give(std::exchange(*buffer, nullptr));
    while (heads_) loop_.context.buffers.give(std::exchange(heads_, heads_->next));
}

// ---- Events ----

void ClientConnection::onReady() {
    if (phase_ == Phase::Dead) return;
    if (!out_.empty() && writable()) {
        flush();
        if (phase_ == Phase::Dead) return;
    }
    switch (phase_) {
        case Phase::Idle:
        case Phase::Head: return readHead();
        case Phase::Chain:
        case Phase::Response:
        case Phase::Drain:
            if (sink_ != Sink::None) pumpBody();
            if (phase_ == Phase::Chain || phase_ == Phase::Response) checkClientGone();
            return;
        case Phase::Linger: return discard();
        case Phase::Dead: return;
    }
}

void ClientConnection::onDeferred() {
    if (!out_.empty()) flush();
}

void ClientConnection::onTimer(void* self) {
    auto& connection = *static_cast<ClientConnection*>(self);
    switch (connection.phase_) {
        case Phase::Head: return connection.refuse(408, "the request head took too long");
        case Phase::Chain:
            if (connection.awaitContinue_) return connection.sendContinue();
            return connection.bodyFault({408, "the request body took too long"});
        case Phase::Response:  // the client does not take the response, or does not send the body that goes with it
            if (connection.stillTakes()) return;
            [[fallthrough]];
        case Phase::Drain: return connection.abort();
        case Phase::Idle:
        case Phase::Linger: return connection.close();
        case Phase::Dead: return;
    }
}

// Whether there is anybody to run the request for. A client may close its sending side and wait for the answer (RFC
// 9112 9.6); one that has closed both is only known by a reset, which writing brings about.
void ClientConnection::checkClientGone() {
    if (tunnel_) return;  // reading and writing tell
    if (broken()) return abort();
    if (peerClosed() && bodyDone_ && !loop_.limits.halfClose) return abort();
}

// The client's turn to send: arms the timer for as long as it may take. It is cut when it does nothing for bodyTimeout,
// or when it was waited for longer than that in all and sends less than minRate bytes a second.
void ClientConnection::waitForBody() {
    const RequestLimits& limits = loop_.limits;
    if (tunnel_) return timer_.arm(loop_.events, limits.tunnel);
    if (!limits.minRate) return timer_.arm(loop_.events, limits.body);
    if (!pace_) pace_ = new (exchange_->allocate(sizeof(Pace))) Pace;
    const std::uint64_t now = loop_.events.nowMs();
    if (pace_->waitingSince) pace_->waited += now - pace_->waitingSince;
    pace_->waitingSince = now;
    const std::uint64_t most = static_cast<std::uint64_t>(limits.body.count()) + pace_->bytes * 1000 / limits.minRate;
    const std::uint64_t left = most > pace_->waited ? most - pace_->waited : 0;
    timer_.arm(loop_.events, std::min(limits.body, net::Milliseconds(left)));
}

void ClientConnection::bodyCame(std::size_t bytes) {
    if (!pace_) return;
    pace_->bytes += bytes;
    if (!pace_->waitingSince) return;
    pace_->waited += loop_.events.nowMs() - pace_->waitingSince;
    pace_->waitingSince = 0;
}

// The socket has room only when much of what it holds is gone: a slow client may take bytes all the time without that
// being seen. So when its time is up the system is asked what it has taken.
bool ClientConnection::stillTakes() {
    const RequestLimits& limits = loop_.limits;
    int unsent = 0;
    if (out_.empty() || ::ioctl(fd(), SIOCOUTQ, &unsent) != 0) return false;
    const std::uint64_t queued = static_cast<std::uint64_t>(unsent);
    const std::uint64_t taken = out_.written() > queued ? out_.written() - queued : 0;
    const auto milliseconds = static_cast<std::uint64_t>(limits.body.count());
    const std::uint64_t least = std::max<std::uint64_t>(1, limits.minRate * milliseconds / 1000);
    if (taken < taken_ + least) return false;
    taken_ = taken;
    timer_.arm(loop_.events, limits.body);
    return true;
}

// ---- The end of an exchange, and of the connection ----

// Each exchange once, when it is over: metrics, and a line of the access log.
void ClientConnection::account(int status, bool aborted) {
    if (std::exchange(accounted_, true)) return;
    const std::uint64_t duration = exchange_->beganNs ? loop_.events.nowNs() - exchange_->beganNs : 0;
    loop_.requests.over(status, aborted, duration);
    if (!loop_.accessLog) return;
    AccessRecord record = accessRecord(*exchange_);
    if (record.client.empty()) record.client = peer_.text();
    record.status = status;
    record.bodyBytes = out_.written() > headEnd_ ? out_.written() - headEnd_ : 0;
    record.durationUs = duration / 1000;
    record.upstream = exchange_->upstream;
    record.upstreamUs = exchange_->upstreamNs / 1000;
    record.selector = exchange_->selectorId;
    record.rule = exchange_->ruleId;
    record.aborted = aborted;
    loop_.accessLog->write(record);
}

void ClientConnection::finishExchange(weir_finish how) {
    account(committed_ ? exchange_->response.head.status : 0, how == WEIR_FINISH_ABORTED);
    if (exchange_->committed()) [[likely]] {
        cancelCall(*exchange_);
        exchange_->finish(how);
    } else {
        exchange_->cancel();
    }
}

// The exchange is over; the connection goes on or closes.
void ClientConnection::released(chain::Exchange& exchange) {
    if (std::exchange(running_, false)) loop_.requestOver();
    while (heads_) loop_.context.buffers.give(std::exchange(heads_, heads_->next));
    chain::Exchange::destroy(&exchange);
    exchange_ = nullptr;
    parser_ = nullptr;
    collected_ = replay_ = response_ = nullptr;
    pace_ = nullptr;
    chunkHeads_ = nullptr;
    piece_ = firstPiece_ = {};
    operation_ = 0;
    if (phase_ == Phase::Dead) {
        giveBuffers();
        loop_.events.retire(std::unique_ptr<ClientConnection>(this));
        loop_.closed(*this);
    } else if (refusal_) {
        const http::ParseError error = std::exchange(refusal_, {});
        refuse(error.status, error.reason);
    } else if (keepAlive_) {
        nextRequest();
    } else {
        closeAfterResponse();
    }
}

// Bytes of the client that nobody reads would turn our close into a reset, and the response might be lost with it.
void ClientConnection::closeAfterResponse() {
    if (bodyDone_ && !readable() && !(in_ && in_->pending())) return close();
    ::shutdown(fd(), SHUT_WR);
    phase_ = Phase::Linger;
    sink_ = Sink::None;
    timer_.arm(loop_.events, kLinger);
    if (readable()) loop_.events.requeue(*this);
}

}  // namespace weir::gateway
