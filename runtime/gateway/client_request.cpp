#include <algorithm>
#include <cstring>
#include <utility>

#include "chain/error_reply.hpp"
#include "gateway/client_connection.hpp"
#include "http/path_normalizer.hpp"

namespace weir::gateway {

// ---- Reading requests ----

void ClientConnection::readHead() {
    if (!readable() && !broken()) [[unlikely]] {
        if (phase_ == Phase::Head && in_->pending() && !exchange_) parseHead();  // pipelined bytes
        return;
    }
    if (!in_) in_ = loop_.context.buffers.take();
    const std::size_t room = in_->room();
    const ssize_t got = room ? net::readSome(fd(), in_->tail(), room) : 0;
    if (got == -EAGAIN) {
        clearReadable();
        if (!in_->pending()) loop_.context.buffers.give(std::exchange(in_, nullptr));
        else if (!exchange_) parseHead();
        return;
    }
    if (got < 0) return close();
    if (got == 0) {
        clearReadable();
        eof_ = true;
        if (!in_->pending()) return close();
        return parseHead();  // what came before the end is served
    }
    if (static_cast<std::size_t>(got) < room && !peerClosed() && !broken()) clearReadable();
    in_->end += static_cast<std::size_t>(got);
    if (phase_ != Phase::Idle) return parseHead();
    if (!skipBlankLines()) return;
    phase_ = Phase::Head;
    parseHead();
    // For the whole head, when more of it must come: a byte now and then does not renew it.
    if (phase_ == Phase::Head) timer_.arm(loop_.events, loop_.limits.header);
}

// CRLFs behind a body are no request yet (RFC 9112 2.2). false: there is nothing else.
bool ClientConnection::skipBlankLines() {
    while (in_->pending() >= 2 && in_->head()[0] == '\r' && in_->head()[1] == '\n') in_->begin += 2;
    if (in_->pending()) {
        if (in_->begin) {
            std::memmove(in_->data, in_->head(), in_->pending());
            in_->end = in_->pending();
            in_->begin = 0;
        }
        return true;
    }
    in_->begin = in_->end = 0;
    if (readable()) loop_.events.requeue(*this);
    else loop_.context.buffers.give(std::exchange(in_, nullptr));
    return false;
}

void ClientConnection::parseHead() {
    if (!exchange_) {
        exchange_ = chain::Exchange::make(loop_.context, *this);
        parser_ = http::RequestParser::make(*exchange_, exchange_->request, loop_.limits.parse);
        exchange_->beganNs = loop_.events.wokeNs();
        out_.restart();
        headEnd_ = taken_ = 0;
        committed_ = accounted_ = false;
    }
    const http::Fed fed = parser_->feed(in_->head(), in_->pending());
    if (fed.error) return refuse(fed.error.status, fed.error.reason);
    if (!fed.head) {
        if (eof_) return close();
        if (in_->room()) {
            if (readable()) loop_.events.requeue(*this);  // the end of the stream is there too: no edge will tell
            return;
        }
        const http::ParseError error = http::headTooLarge({in_->head(), in_->pending()});
        return refuse(error.status, error.reason);
    }
    in_->begin += fed.consumed;
    piece_ = fed.body;
    bodyDone_ = fed.done;
    bodyBytes_ = piece_.size();
    if (const http::ParseError bad = mayServe()) return refuse(bad.status, bad.reason);
    const http::ParseError bad = http::normalizePath(exchange_->request, *exchange_, loop_.limits.path);
    if (bad) return refuse(bad.status, bad.reason);
    if (exchange_->request.target == "*") return answerOptions();
    startRequest();
}

// "OPTIONS *" asks about the gateway itself, not about anything that a plugin could match (RFC 9110 9.3.7).
void ClientConnection::answerOptions() {
    exchange_->reply(200, {}, {});
    exchange_->response.head.fields.add("Allow", loop_.limits.allow);
    keepAlive_ = exchange_->request.keepAlive && !loop_.draining();
    timer_.disarm();
    commit(*exchange_);
}

// What the settings say against a well-formed request.
http::ParseError ClientConnection::mayServe() const {
    const http::RequestHead& request = exchange_->request;
    const RequestLimits& limits = loop_.limits;
    if (overLimit_) return {503, "too many connections: server.maxConnections is reached"};
    if (limits.maxRunning && loop_.running() >= limits.maxRunning)
        return {503, "too many requests at one time: server.maxRequests is reached"};
    if (request.method == "TRACE") return {405, "TRACE"};  // it would show a client what the gateway adds
    if (!limits.allows(request.method)) return {501, "method not in server.methods"};
    if (request.contentLength > limits.maxBody || bodyBytes_ > limits.maxBody)
        return {413, "request body larger than server.maxRequestBodyBytes"};
    return {};
}

void ClientConnection::startRequest() {
    prepareTracing(*exchange_, loop_.tracing, loop_.ids);
    http::RequestHead& request = exchange_->request;
    // Only the target of HTTP/1.0 may be alone in naming the host: plugins find it in the field all the same.
    if (request.version < 11 && request.host.data() && !request.fields.get(http::FieldId::Host).data())
        request.fields.set("Host", request.host);
    exchange_->clientAddress = peer_.text();
    const bool body = request.body != http::BodyKind::None && !(bodyDone_ && piece_.empty());
    exchange_->bodyState = body ? chain::BodyState::Streaming : chain::BodyState::Absent;
    keepAlive_ = request.keepAlive && !loop_.draining();
    phase_ = Phase::Chain;
    timer_.disarm();
    running_ = true;
    loop_.requestBegan();
    exchange_->start();
}

// Answers an error of the gateway itself to something that is no request (any more), then closes.
void ClientConnection::refuse(int status, std::string_view reason) {
    if (!exchange_) exchange_ = chain::Exchange::make(loop_.context, *this);
    if (exchange_->requestId.empty()) prepareTracing(*exchange_, loop_.tracing, loop_.ids);
    exchange_->reply(status, "application/json", chain::errorBody(status, reason));  // HTTP's own, ShenYu's has no say
    if (status == 405) exchange_->response.head.fields.add("Allow", loop_.limits.allow);  // RFC 9110 15.5.6
    keepAlive_ = false;
    piece_ = {};
    sink_ = Sink::None;
    timer_.disarm();
    commit(*exchange_);
}

void ClientConnection::nextRequest() {
    sink_ = Sink::None;
    bodyDone_ = bodyForwarded_ = chunkedUp_ = chunkedDown_ = false;
    bodyless_ = responseDone_ = continued_ = awaitContinue_ = upgradeAsked_ = redialled_ = false;
    if (bodyIn_) {  // the last bytes that were read are there
        loop_.context.buffers.give(in_);
        in_ = std::exchange(bodyIn_, nullptr);
    }
    if (in_ && !in_->pending()) loop_.context.buffers.give(std::exchange(in_, nullptr));
    if (!in_) {
        if (!keepAlive_ || eof_ || loop_.draining()) return close();
        phase_ = Phase::Idle;
        timer_.arm(loop_.events, loop_.limits.keepAlive);
        if (readable() || broken()) loop_.events.requeue(*this);
        return;
    }
    std::memmove(in_->data, in_->head(), in_->pending());
    in_->end = in_->pending();
    in_->begin = 0;
    phase_ = Phase::Head;
    timer_.arm(loop_.events, loop_.limits.header);
    loop_.events.requeue(*this);  // not from here: a long pipeline would nest, and others wait
}

// ---- The request body ----

// More body bytes into piece_; false: none now (or the connection is gone).
bool ClientConnection::readBodyBytes() {
    if (!readable()) {
        if (broken()) abort();
        else waitForBody();
        return false;
    }
    if (!bodyIn_) bodyIn_ = loop_.context.buffers.take();
    bodyIn_->begin = bodyIn_->end = 0;
    const std::size_t room = bodyIn_->room();
    const ssize_t got = net::readSome(fd(), bodyIn_->data, room);
    if (got == -EAGAIN) {
        clearReadable();
        waitForBody();
        return false;
    }
    if (got < 0) {
        abort();
        return false;
    }
    if (got == 0) {
        bodyEnded();
        return tunnel_;
    }
    if (static_cast<std::size_t>(got) < room && !peerClosed() && !broken()) clearReadable();
    bodyIn_->end = static_cast<std::size_t>(got);
    bodyCame(bodyIn_->end);
    if (!takeBodyBytes()) return false;
    if (out_.empty()) timer_.disarm();
    return true;
}

// The client has closed its side: in a tunnel that is its last word, a body it cuts short.
void ClientConnection::bodyEnded() {
    eof_ = true;
    clearReadable();
    if (tunnel_) bodyDone_ = true;
    else bodyFault({400, "the request body broke off"});
}

bool ClientConnection::takeBodyBytes() {
    if (tunnel_) {
        piece_ = {bodyIn_->data, bodyIn_->pending()};
        bodyIn_->begin = bodyIn_->end;
        return true;
    }
    const http::Fed fed = parser_->feed(bodyIn_->data, bodyIn_->pending());
    if (fed.error) {
        bodyFault(fed.error);
        return false;
    }
    bodyIn_->begin += fed.consumed;
    piece_ = fed.body;
    bodyDone_ = fed.done;
    bodyBytes_ += piece_.size();
    if (bodyBytes_ > loop_.limits.maxBody) {
        bodyFault({413, "request body larger than server.maxRequestBodyBytes"});
        return false;
    }
    return true;
}

// The body turned out malformed or too slow after the chain had begun: its upstream call is cut before it is a whole
// message; an answer is possible only if none has begun.
void ClientConnection::bodyFault(const http::ParseError& error) {
    if (phase_ != Phase::Chain) return abort();
    account(error.status, false);
    refusal_ = error;
    keepAlive_ = false;
    sink_ = Sink::None;
    piece_ = {};
    timer_.disarm();
    exchange_->cancel();  // released() answers
}

// The client waits for leave to send its body.
void ClientConnection::askForBody() {
    if (!exchange_->request.expectContinue || continued_ || bodyDone_) return;
    if (!piece_.empty() || phase_ != Phase::Chain) return;
    if (!readable()) return sendContinue();
    continued_ = true;  // it does not wait
}

void ClientConnection::sendContinue() {
    awaitContinue_ = false;
    continued_ = true;
    timer_.disarm();
    out_.add(http::kContinue);
    flush();
    if (phase_ == Phase::Chain && sink_ != Sink::None) loop_.events.requeue(*this);
}

void ClientConnection::pumpBody() {
    if (awaitContinue_) {
        if (!readable() && !broken()) return;
        awaitContinue_ = false;  // the body comes unasked
        continued_ = true;
        timer_.disarm();
    }
    if (sink_ != Sink::Discard) askForBody();
    if (phase_ == Phase::Dead) return;
    switch (sink_) {
        case Sink::Call: return pumpToCall();
        case Sink::Collect: return collect();
        case Sink::Discard: return discard();
        case Sink::None: return;
    }
}

// The timer that watched the body must not go off on whatever comes next; later phases have it for their own ends.
void ClientConnection::stopReading() {
    sink_ = Sink::None;
    if (phase_ == Phase::Chain) timer_.disarm();
}

void ClientConnection::pumpToCall() {
    for (int turn = 0; call_ && !call_->blocked(); ++turn) {
        if (piece_.empty() && !bodyDone_) {
            if (turn == kReadsPerWake) return loop_.events.requeue(*this);
            if (!readBodyBytes()) return;
            continue;
        }
        queueBody(std::exchange(piece_, {}), bodyDone_);
        call_->send(bodyDone_);
        if (!bodyForwarded_) continue;
        stopReading();
        if (tunnel_) tunnelEnded();
        return;
    }
}

// Queues one piece of the request body, framed as the head announced.
void ClientConnection::queueBody(std::string_view piece, bool last) {
    exchange_->bodyState = chain::BodyState::Taken;
    bodyForwarded_ = last;
    if (replay_ && !piece.empty()) replay_->add(*exchange_, piece, exchange_->request.contentLength);
    if (!chunkedUp_) return call_->add(piece);
    if (!piece.empty()) {
        call_->add(http::writeChunkSize(chunkHeads_, piece.size()));
        call_->add(piece);
        call_->add(last ? http::kChunkEndAndLast : http::kChunkEnd);
    } else if (last) {
        call_->add(http::kLastChunk);
    }
}

// Throws away what the client still sends, to keep the connection (Drain) or for it to read the response (Linger).
void ClientConnection::discard() {
    if (phase_ == Phase::Linger) {
        char scrap[4096];
        for (int turn = 0; readable(); ++turn) {
            if (turn == kReadsPerWake) return loop_.events.requeue(*this);
            const ssize_t got = net::readSome(fd(), scrap, sizeof scrap);
            if (got == -EAGAIN) return clearReadable();
            if (got <= 0) return close();
            if (got < static_cast<ssize_t>(sizeof scrap) && !peerClosed() && !broken()) clearReadable();
        }
        if (broken()) close();
        return;
    }
    for (int turn = 0; !bodyDone_; ++turn) {
        if (turn == kReadsPerWake) return loop_.events.requeue(*this);
        piece_ = {};
        if (!readBodyBytes()) return;
    }
    piece_ = {};
    finishExchange(WEIR_FINISH_OK);
}

}  // namespace weir::gateway
