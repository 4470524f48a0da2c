#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "gateway/client_connection.hpp"
#include "upstream/upstream_set.hpp"

namespace weir::gateway {

namespace {

constexpr net::Milliseconds kContinueWait{1000};  // many upstreams do not answer an Expect at all

std::string_view nameOf(weir_call why) {
    switch (why) {
        case WEIR_CALL_REFUSED: return "no connection";
        case WEIR_CALL_CONNECT_TIMEOUT: return "no connection in time";
        case WEIR_CALL_TIMEOUT: return "no response head in time";
        case WEIR_CALL_BAD_REPLY: return "a reply that is not HTTP/1.1";
        default: return "a connection that broke off";
    }
}

const upstream::UpstreamSet& setOf(const weir_route& route) {
    return *reinterpret_cast<const upstream::UpstreamSet*>(route.set);
}

}  // namespace

// ---- Calling the upstream ----

void ClientConnection::startCall(chain::Exchange& exchange, weir_operation operation) {
    operation_ = operation;
    redialled_ = false;
    if (exchange.bodyState != chain::BodyState::Taken) return dial(false);
    exchange.callNotMade();  // nothing is left to send
    exchange.complete(std::exchange(operation_, 0), WEIR_CALL_RESET);
}

void ClientConnection::dial(bool fresh) {
    const weir_route* route = exchange_->route();
    const weir_operation operation = operation_;
    if (!route || !route->set || route->index < 0 ||
        static_cast<std::size_t>(route->index) >= setOf(*route).size()) [[unlikely]] {
        exchange_->callNotMade();
        return exchange_->complete(std::exchange(operation_, 0), WEIR_CALL_UNRESOLVED);
    }
    const std::shared_ptr<const upstream::Server>& server = setOf(*route).server(route->index);
    exchange_->upstream = server->url;
    call_ = loop_.upstreams.acquire(server, fresh);
    if (!call_) [[unlikely]] {  // perhaps for want of a descriptor: that says nothing of the server
        operation_ = 0;
        exchange_->callNotMade();
        const bool resolved = loop_.upstreams.resolved(*server);
        return exchange_->complete(operation, resolved ? WEIR_CALL_REFUSED : WEIR_CALL_UNRESOLVED);
    }
    server->state.callBegan();
    callBeganNs_ = loop_.events.wokeNs();
    const upstream::Connection::Timeouts timeouts{loop_.limits.connect, net::Milliseconds(route->timeout_ms),
                                                  loop_.limits.upstreamBody};
    const http::RequestHead& request = exchange_->request;
    upgradeAsked_ = exchange_->upgradeAllowed && request.upgrade && request.method == "GET" &&
                    exchange_->bodyState == chain::BodyState::Absent &&
                    request.fields.get(http::FieldId::Upgrade).data();
    call_->begin(*this, *exchange_, exchange_->response.head, {request.method == "HEAD", upgradeAsked_}, timeouts);
    sendRequest();
}

// The connection is not this request's any more; what becomes of it is the caller's.
upstream::Connection* ClientConnection::endCall() {
    call_->server().state.callEnded();
    return std::exchange(call_, nullptr);
}

// The call has come to its head, or will not: how long that took, for balancers and the access log, by the loop's
// cached time, which is off by a batch at most. Answers the time.
std::uint64_t ClientConnection::noteTime() {
    const std::uint64_t nowNs = loop_.events.wokeNs();
    exchange_->upstreamNs = nowNs - std::exchange(callBeganNs_, 0);
    return nowNs;
}

void ClientConnection::noteFailure(const upstream::Server& server, weir_call why, std::uint64_t nowNs) {
    const std::chrono::nanoseconds rest = server.state.callFailed(nowNs, loop_.limits.ejection);
    if (rest == rest.zero()) return;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(rest);
    const std::uint32_t inRow = server.state.failuresInRow.load(std::memory_order_relaxed);
    base::logWarning("upstream " + server.url + ": left out for " + std::to_string(ms.count()) +
                     " ms where there is another, after " + std::to_string(inRow) +
                     " failures in a row, the last one: " + std::string(nameOf(why)));
}

void ClientConnection::sendRequest() {
    chain::Exchange& exchange = *exchange_;
    const http::RequestHead& request = exchange.request;
    http::UpstreamTarget target;
    target.path = exchange.upstreamPath();
    target.query = request.query;
    target.host = exchange.preserveHost && !request.host.empty() ? request.host : std::string_view(call_->server().url);

    const bool buffered = exchange.bodyState == chain::BodyState::Buffered;
    const bool streaming = exchange.bodyState == chain::BodyState::Streaming;
    http::RequestFraming framing;
    if (buffered) framing = {http::BodyKind::Length, exchange.bufferedBody.size()};
    else if (request.body == http::BodyKind::Length) framing = {http::BodyKind::Length, request.contentLength};
    else if (streaming) framing = {http::BodyKind::Chunked, 0};
    else if (request.body == http::BodyKind::Chunked) framing = {http::BodyKind::Length, 0};  // an empty one
    chunkedUp_ = framing.kind == http::BodyKind::Chunked;
    framing.upgrade = upgradeAsked_;
    // A client that waits for leave to send its body gets the upstream's, not ours (RFC 9110 10.1.1).
    awaitContinue_ = framing.expectContinue =
        streaming && request.expectContinue && !continued_ && piece_.empty() && !readable();
    if (!chunkHeads_) chunkHeads_ = exchange.allocateArray<char>(48);

    call_->add(http::writeRequestHead(exchange, request, target, framing, exchange.clientAddress,
                                      loop_.additions()));
    if (!streaming) {
        if (buffered) call_->add(exchange.bufferedBody);
        call_->sendLater(true);
        return;
    }
    bodyForwarded_ = false;
    replay_ = mayReplay() ? new (exchange.allocate(sizeof(Collected))) Collected : nullptr;
    firstPiece_ = std::exchange(piece_, {});
    if (!firstPiece_.empty()) queueBody(firstPiece_, bodyDone_);
    call_->sendLater(bodyForwarded_);
    if (bodyForwarded_) return;
    sink_ = Sink::Call;
    if (awaitContinue_) return timer_.arm(loop_.events, kContinueWait);
    loop_.events.requeue(*this);  // a plugin may be on the stack: nothing that may end the exchange happens here
}

// Whether the call's body is copied on its way. One that is here in whole needs no copy, a method that can not be
// repeated none that is of use.
bool ClientConnection::mayReplay() const {
    const http::RequestHead& request = exchange_->request;
    return !bodyDone_ && exchange_->route()->retry > 0 && request.body == http::BodyKind::Length &&
           request.contentLength <= loop_.limits.replayBody && http::isIdempotent(request.method);
}

// After a failure: the body as another call may send it.
void ClientConnection::restoreBody(weir_call why) {
    if (exchange_->bodyState != chain::BodyState::Taken) return;
    if (why == WEIR_CALL_REFUSED || why == WEIR_CALL_CONNECT_TIMEOUT || call_->unsent()) {
        // Nothing was sent, and nothing is read from the client before that: it is as it was.
        piece_ = std::exchange(firstPiece_, {});
        bodyForwarded_ = false;
        exchange_->bodyState = chain::BodyState::Streaming;
    } else if (bodyForwarded_ && (replay_ || firstPiece_.size() == bodyBytes_)) {
        exchange_->bufferedBody = replay_ ? replay_->bytes() : firstPiece_;
        exchange_->bodyState = chain::BodyState::Buffered;
    }
}

void ClientConnection::cancelCall(chain::Exchange&) {
    response_ = nullptr;
    if (!call_) return;
    if (callBeganNs_) noteTime();
    endCall()->abandon();
    operation_ = 0;
    awaitContinue_ = false;
    if (sink_ == Sink::Call) stopReading();
}

void ClientConnection::onCallWritten() {
    if (sink_ == Sink::Call && !awaitContinue_) pumpToCall();
}

// An idle connection that the upstream closed just when we used it, which says nothing of how it is.
bool ClientConnection::stale(weir_call why) const {
    return why == WEIR_CALL_RESET && call_->reused() && !call_->anythingRead();
}

// Nothing of the request was acted upon if it may be repeated, so one fresh connection gets it.
bool ClientConnection::mayRedial(weir_call why) const {
    const bool body = exchange_->bodyState == chain::BodyState::Taken ||  // some of it is gone
                      (exchange_->bodyState == chain::BodyState::Streaming && !awaitContinue_);
    const bool harmless = call_->unsent() || (!body && http::isIdempotent(exchange_->request.method));
    return stale(why) && !redialled_ && harmless;
}

void ClientConnection::onCallFailed(weir_call why) {
    const std::uint64_t nowNs = noteTime();
    restoreBody(why);
    const bool redial = mayRedial(why);
    if (!stale(why)) noteFailure(call_->server(), why, nowNs);
    endCall();
    awaitContinue_ = false;
    stopReading();
    if (redial) {
        redialled_ = true;
        return dial(true);
    }
    exchange_->complete(std::exchange(operation_, 0), why);
}

// 100 is for who asked for it; the others are for the client at once (RFC 9110 15.2), if it can know them. One that
// would have to wait for the client to read is left out: they are hints.
void ClientConnection::onCallInterim() {
    const http::ResponseHead& head = exchange_->response.head;
    if (head.status == 100) {
        if (awaitContinue_) sendContinue();
        return;
    }
    if (exchange_->request.version < 11 || phase_ != Phase::Chain || !out_.empty()) return;
    out_.add(http::writeInterimHead(*exchange_, head));
    flush();
}

void ClientConnection::onCallHead() {
    const std::uint64_t nowNs = noteTime();
    const upstream::Server& server = call_->server();
    if (server.state.callAnswered(exchange_->upstreamNs, nowNs))
        base::logInfo("upstream " + server.url + ": answers again, back in use");
    if (awaitContinue_) {  // it answers without having seen the body, which is not sent then
        awaitContinue_ = false;
        stopReading();
    }
    net::Buffer* head = call_->takeHeadBuffer();
    head->next = heads_;
    heads_ = head;
    exchange_->response.source = chain::ResponseSource::Upstream;
    exchange_->complete(std::exchange(operation_, 0), WEIR_CALL_OK);
}

}  // namespace weir::gateway
