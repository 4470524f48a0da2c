#include <memory>
#include <utility>

#include "gateway/client_connection.hpp"
#include "upstream/upstream_set.hpp"

namespace weir::gateway {

namespace {

constexpr net::Milliseconds kContinueWait{1000};  // many upstreams do not answer an Expect at all

bool isIdempotent(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" || method == "DELETE";
}

const upstream::UpstreamSet& setOf(const weir_route& route) {
    return *reinterpret_cast<const upstream::UpstreamSet*>(route.set);
}

}  // namespace

// ---- Calling the upstream ----

void ClientConnection::startCall(chain::Exchange& exchange, weir_operation operation) {
    operation_ = operation;
    redialled_ = false;
    if (exchange.bodyState == chain::BodyState::Taken)  // nothing left to send
        return exchange.complete(std::exchange(operation_, 0), WEIR_CALL_RESET);
    dial(false);
}

void ClientConnection::dial(bool fresh) {
    const weir_route* route = exchange_->route();
    const weir_operation operation = operation_;
    if (!route || route->index < 0 || static_cast<std::size_t>(route->index) >= setOf(*route).size())
        return exchange_->complete(std::exchange(operation_, 0), WEIR_CALL_UNRESOLVED);
    const std::shared_ptr<const upstream::Server>& server = setOf(*route).server(route->index);
    const bool timed = setOf(*route).wantsDone(route->balancer);
    callBeganNs_ = timed || loop_.accessLog ? loop_.events.nowNs() : 0;
    exchange_->upstream = server->url;
    call_ = loop_.upstreams.acquire(server, fresh);
    if (!call_) {
        operation_ = 0;
        tellBalancer(true);
        return exchange_->complete(operation, server->addresses.empty() ? WEIR_CALL_UNRESOLVED : WEIR_CALL_REFUSED);
    }
    const upstream::Connection::Timeouts timeouts{loop_.limits.connect, net::Milliseconds(route->timeout_ms),
                                                  loop_.limits.upstreamBody};
    const http::RequestHead& request = exchange_->request;
    upgradeAsked_ = exchange_->upgradeAllowed && request.upgrade && request.method == "GET" &&
                    exchange_->bodyState == chain::BodyState::Absent &&
                    request.fields.get(http::FieldId::Upgrade).data();
    call_->begin(*this, *exchange_, exchange_->response.head, {request.method == "HEAD", upgradeAsked_}, timeouts);
    sendRequest();
}

// How the call went, for a balancer that wants to know and the access log. Once for each pick that was dialled.
void ClientConnection::tellBalancer(bool failed) {
    if (!callBeganNs_) return;
    exchange_->upstreamNs = loop_.events.nowNs() - std::exchange(callBeganNs_, 0);
    const weir_route& route = *exchange_->route();
    const upstream::UpstreamSet& set = setOf(route);
    if (set.wantsDone(route.balancer)) set.done(route.balancer, route.index, exchange_->upstreamNs, failed);
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
        call_->send(true);
        return;
    }
    bodyForwarded_ = false;
    firstPiece_ = std::exchange(piece_, {});
    if (!firstPiece_.empty()) queueBody(firstPiece_, bodyDone_);
    call_->send(bodyForwarded_);
    if (bodyForwarded_) return;
    sink_ = Sink::Call;
    if (awaitContinue_) return timer_.arm(loop_.events, kContinueWait);
    loop_.events.requeue(*this);  // a plugin may be on the stack: nothing that may end the exchange happens here
}

void ClientConnection::cancelCall(chain::Exchange&) {
    response_ = nullptr;
    if (!call_) return;
    std::exchange(call_, nullptr)->abandon();
    tellBalancer(true);
    operation_ = 0;
    awaitContinue_ = false;
    if (sink_ == Sink::Call) stopReading();
}

void ClientConnection::onCallWritten() {
    if (sink_ == Sink::Call && !awaitContinue_) pumpToCall();
}

// An idle connection that the upstream closed just when we used it: nothing of the request was acted upon if it may be
// repeated, so one fresh connection gets it.
bool ClientConnection::mayRedial(weir_call why) const {
    const bool body = exchange_->bodyState == chain::BodyState::Taken ||  // some of it is gone
                      (exchange_->bodyState == chain::BodyState::Streaming && !awaitContinue_);
    return why == WEIR_CALL_RESET && call_->reused() && !call_->anythingRead() && !redialled_ && !body &&
           isIdempotent(exchange_->request.method);
}

void ClientConnection::onCallFailed(weir_call why) {
    const bool redial = mayRedial(why);
    call_ = nullptr;
    awaitContinue_ = false;
    stopReading();
    if ((why == WEIR_CALL_REFUSED || why == WEIR_CALL_CONNECT_TIMEOUT) && !firstPiece_.empty()) {
        // Nothing was sent, and nothing is read from the client while connecting: the body is as it was.
        piece_ = std::exchange(firstPiece_, {});
        bodyForwarded_ = false;
        exchange_->bodyState = chain::BodyState::Streaming;
    }
    if (redial) {
        redialled_ = true;
        return dial(true);
    }
    tellBalancer(true);
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
    tellBalancer(false);
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
