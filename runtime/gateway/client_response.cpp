#include <sys/socket.h>

#include <utility>

#include "gateway/client_connection.hpp"

namespace weir::gateway {

namespace {
constexpr std::uint64_t kMaxDrained = 65536;  // a body this short is read and thrown away to keep the connection
}  // namespace

// ---- The response ----

// Decides how the response is framed and whether the connection stays.
http::ResponseFraming ClientConnection::framing() {
    using Kind = http::ResponseFraming::Kind;
    const http::RequestHead& request = exchange_->request;
    const http::ResponseHead& head = exchange_->response.head;
    http::ResponseFraming framing;
    bodyless_ = request.method == "HEAD" || head.status == 204 || head.status == 304;
    if (exchange_->response.streams()) {
        if (head.body == http::BodyKind::None) {  // a plugin may have given it a status that has a body: an empty one
            if (!bodyless_) framing = {Kind::Length, 0};
            else if (head.hasLength) framing = {Kind::Length, head.contentLength};
        } else if (head.body == http::BodyKind::Length) {
            framing = {Kind::Length, head.contentLength};
        } else {
            framing.kind = request.version >= 11 ? Kind::Chunked : Kind::UntilClose;
        }
    } else {
        framing = {Kind::Length, exchange_->response.body.size()};
    }
    // The length of the 200 that a 304 stands for is not known here, and no other may be told (RFC 9110 8.6).
    if (head.status == 204 || (head.status == 304 && !exchange_->response.streams())) framing.kind = Kind::None;
    chunkedDown_ = framing.kind == Kind::Chunked && !bodyless_;
    endsByClose_ = framing.kind == Kind::UntilClose || head.status == 101;
    if (framing.kind == Kind::UntilClose) keepAlive_ = false;
    // What is left of the request body is either forwarded beside the response, or short enough to throw away. One
    // that the client holds back for a 100 Continue may never come.
    if (!bodyDone_) {
        const bool forwarded = sink_ == Sink::Call && !call_->bodyDone();
        const bool shortBody = request.body == http::BodyKind::Length && request.contentLength <= kMaxDrained;
        if ((!forwarded && !shortBody) || (request.expectContinue && !continued_)) keepAlive_ = false;
    }
    if (loop_.draining()) keepAlive_ = false;
    if (head.status == 101) return {.kind = Kind::Upgrade};
    framing.close = !keepAlive_;
    framing.sayKeepAlive = keepAlive_ && request.version < 11;
    return framing;
}

void ClientConnection::commit(chain::Exchange& exchange) {
    phase_ = Phase::Response;
    chain::ResponseState& response = exchange.response;
    if (response.source == chain::ResponseSource::None)
        exchange.replyError(500, -1, "the chain ended without a response");
    if (response.streams() && call_->switched() && response.head.status != 101)
        exchange.replyError(502, -1, "a plugin gave another status to a response that switches protocols");
    answerRequestId(exchange, loop_.tracing);
    if (!chunkHeads_) chunkHeads_ = exchange.allocateArray<char>(48);
    const http::ResponseFraming framed = framing();
    const std::string_view head = http::writeResponseHead(exchange, response.head, framed, loop_.additions());
    out_.add(head);
    headEnd_ = out_.written() + head.size();
    committed_ = true;
    if (framed.kind == http::ResponseFraming::Kind::Upgrade) beginTunnel();
    if (!response.streams()) {
        if (!bodyless_) out_.add(response.body);
        responseDone_ = true;
    } else if (response_ && response_->size) {
        queueResponse(response_->bytes(), call_->bodyDone());  // a plugin has read that far
    } else {
        queueResponse(call_->body(), call_->bodyDone());
    }
    if (responseDone_) {  // what is left is to write it: no timer waits for more, and the limits have room for others
        timer_.disarm();
        if (std::exchange(running_, false)) loop_.requestOver();
    }
    loop_.events.defer(*this);
}

void ClientConnection::queueResponse(std::string_view piece, bool last) {
    responseDone_ = last;
    if (bodyless_) return;
    if (!chunkedDown_) return out_.add(piece);
    if (!piece.empty()) {
        out_.add(http::writeChunkSize(chunkHeads_ + 24, piece.size()));
        out_.add(piece);
        out_.add(last ? http::kChunkEndAndLast : http::kChunkEnd);
    } else if (last) {
        out_.add(http::kLastChunk);
    }
}

void ClientConnection::onCallBody() {
    if (collecting_) return collectResponse();
    queueResponse(call_->body(), call_->bodyDone());
    flush();
}

void ClientConnection::onCallBroken() {
    endCall();
    if (!std::exchange(collecting_, false)) return cutResponse();
    response_ = nullptr;
    if (sink_ == Sink::Call) stopReading();  // nobody takes the rest of the request
    exchange_->complete(std::exchange(operation_, 0), WEIR_IO);
}

// The client must see that the response is cut, as its head is out. A length or chunks say so by what is missing; only
// where the end of the connection is the end of the body it takes a reset. That one would throw away, too, what the
// socket still holds of earlier answers.
void ClientConnection::cutResponse() {
    if (endsByClose_) return abort();
    keepAlive_ = false;
    timer_.disarm();
    out_.clear();
    finishExchange(WEIR_FINISH_ABORTED);
}

void ClientConnection::flush() {
    switch (out_.flush(*this)) {
        case net::OutQueue::State::Done:
            if (phase_ == Phase::Response) written();
            return;
        case net::OutQueue::State::Blocked:
            if (phase_ == Phase::Response) timer_.arm(loop_.events, tunnel_ ? loop_.limits.tunnel : loop_.limits.body);
            return;
        case net::OutQueue::State::Failed: return abort();
    }
}

// Everything queued so far is with the socket.
void ClientConnection::written() {
    if (responseDone_) return tunnel_ ? tunnelEnded() : responseOver();
    if (tunnel_) waitForBody();
    else if (sink_ != Sink::Call || call_->blocked()) timer_.disarm();  // else the request body is waited for
    call_->readBody();
}

void ClientConnection::responseOver() {
    timer_.disarm();
    if (call_) endCall()->end();
    const http::RequestHead& request = exchange_->request;
    const bool shortBody = request.body == http::BodyKind::Length && request.contentLength <= kMaxDrained;
    if (!bodyDone_ && !shortBody) keepAlive_ = false;
    if (bodyDone_ || !keepAlive_) return finishExchange(WEIR_FINISH_OK);
    phase_ = Phase::Drain;
    sink_ = Sink::Discard;
    discard();
}

// ---- After a 101 ----

// Both streams go on as bodies that end with the connection only. What the client has sent already is the first of it.
void ClientConnection::beginTunnel() {
    tunnel_ = true;
    keepAlive_ = false;
    bodyDone_ = bodyForwarded_ = chunkedUp_ = chunkedDown_ = bodyless_ = false;
    sink_ = Sink::Call;
    piece_ = {};
    if (in_ && in_->pending()) {
        piece_ = {in_->head(), in_->pending()};
        in_->begin = in_->end;
    }
    waitForBody();
    loop_.events.requeue(*this);
}

// One side has closed, or both: each learns of the other's end as it was, and may go on itself.
void ClientConnection::tunnelEnded() {
    if (responseDone_ && bodyForwarded_) return responseOver();
    if (responseDone_) ::shutdown(fd(), SHUT_WR);
    waitForBody();
}

}  // namespace weir::gateway
