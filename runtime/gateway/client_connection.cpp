#include "gateway/client_connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/assert.hpp"
#include "chain/error_reply.hpp"
#include "upstream/upstream_set.hpp"

namespace weir::gateway {

namespace {

constexpr int kReadsPerWake = 8;                  // body reads, then the others have their turn
constexpr std::uint64_t kMaxDrained = 65536;      // a body this short is read and thrown away to keep the connection
constexpr net::Milliseconds kLinger{2000};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kChunkEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::string_view kChunkEndAndLast = "\r\n0\r\n\r\n";

bool isIdempotent(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" || method == "DELETE";
}

const upstream::UpstreamSet& setOf(const weir_route& route) {
    return *reinterpret_cast<const upstream::UpstreamSet*>(route.set);
}

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

void ClientConnection::close() {
    if (phase_ == Phase::Dead) return;
    const bool answered = phase_ == Phase::Drain;
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

void ClientConnection::onTimer(void* self) {
    auto& connection = *static_cast<ClientConnection*>(self);
    switch (connection.phase_) {
        case Phase::Head: return connection.refuse(408, "the request head took too long");
        case Phase::Chain: return connection.bodyFault({408, "the request body took too long"});
        case Phase::Response:  // the client does not take the response, or does not send the body that goes with it
        case Phase::Drain: return connection.abort();
        case Phase::Idle:
        case Phase::Linger: return connection.close();
        case Phase::Dead: return;
    }
}

// A client that has closed its side while its request runs is gone (as nginx sees it): cancel what runs for it.
void ClientConnection::checkClientGone() {
    if (broken()) return abort();
    if (peerClosed() && bodyDone_) return abort();
}

// ---- Reading requests ----

void ClientConnection::readHead() {
    if (!readable() && !broken()) {
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
    if (got <= 0) return close();
    if (static_cast<std::size_t>(got) < room && !peerClosed() && !broken()) clearReadable();
    in_->end += static_cast<std::size_t>(got);
    if (phase_ == Phase::Idle) {
        phase_ = Phase::Head;
        timer_.arm(loop_.events, loop_.limits.header);  // for the whole head: a byte now and then does not renew it
    }
    parseHead();
}

void ClientConnection::parseHead() {
    if (!exchange_) {
        exchange_ = chain::Exchange::make(loop_.context, *this);
        parser_ = http::RequestParser::make(*exchange_, exchange_->request, loop_.limits.parse);
    }
    const http::Fed fed = parser_->feed(in_->head(), in_->pending());
    if (fed.error) return refuse(fed.error.status, fed.error.reason);
    if (!fed.head) {
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
    startRequest();
}

void ClientConnection::startRequest() {
    static constexpr char kHex[] = "0123456789abcdef";
    auto* id = exchange_->allocateArray<char>(16);
    std::uint64_t number = std::uint64_t{loop_.index()} << 48 | loop_.nextRequest();
    for (int i = 15; i >= 0; --i, number >>= 4) id[i] = kHex[number & 15];
    exchange_->requestId = {id, 16};
    exchange_->clientAddress = peer_.text();
    const bool body = exchange_->request.body != http::BodyKind::None && !(bodyDone_ && piece_.empty());
    exchange_->bodyState = body ? chain::BodyState::Streaming : chain::BodyState::Absent;
    keepAlive_ = exchange_->request.keepAlive && !loop_.draining();
    phase_ = Phase::Chain;
    timer_.disarm();
    exchange_->start();  // may be over when it returns
}

// Answers an error of the gateway itself to something that is no request (any more), then closes.
void ClientConnection::refuse(int status, std::string_view reason) {
    if (!exchange_) exchange_ = chain::Exchange::make(loop_.context, *this);
    exchange_->reply(status, "application/json", chain::errorBody(status, reason));  // HTTP's own, ShenYu's has no say
    keepAlive_ = false;
    piece_ = {};
    sink_ = Sink::None;
    timer_.disarm();
    commit(*exchange_);
}

void ClientConnection::nextRequest() {
    sink_ = Sink::None;
    bodyDone_ = bodyForwarded_ = chunkedUp_ = chunkedDown_ = false;
    bodyless_ = responseDone_ = continued_ = redialled_ = false;
    if (bodyIn_) {  // the last bytes that were read are there
        loop_.context.buffers.give(in_);
        in_ = std::exchange(bodyIn_, nullptr);
    }
    if (in_ && !in_->pending()) loop_.context.buffers.give(std::exchange(in_, nullptr));
    if (!in_) {
        if (!keepAlive_ || loop_.draining()) return close();
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
        else timer_.arm(loop_.events, loop_.limits.body);
        return false;
    }
    if (!bodyIn_) bodyIn_ = loop_.context.buffers.take();
    bodyIn_->begin = bodyIn_->end = 0;
    const std::size_t room = bodyIn_->room();
    const ssize_t got = net::readSome(fd(), bodyIn_->data, room);
    if (got == -EAGAIN) {
        clearReadable();
        timer_.arm(loop_.events, loop_.limits.body);
        return false;
    }
    if (got <= 0) {
        abort();
        return false;
    }
    if (static_cast<std::size_t>(got) < room && !peerClosed() && !broken()) clearReadable();
    bodyIn_->end = static_cast<std::size_t>(got);
    const http::Fed fed = parser_->feed(bodyIn_->data, bodyIn_->pending());
    if (fed.error) {
        bodyFault(fed.error);
        return false;
    }
    bodyIn_->begin += fed.consumed;
    piece_ = fed.body;
    bodyDone_ = fed.done;
    if (out_.empty()) timer_.disarm();
    return true;
}

// The body turned out malformed or too slow after the chain had begun: its upstream call is cut before it is a whole
// message; an answer is possible only if none has begun.
void ClientConnection::bodyFault(const http::ParseError& error) {
    if (phase_ != Phase::Chain) return abort();
    refusal_ = error;
    keepAlive_ = false;
    sink_ = Sink::None;
    timer_.disarm();
    exchange_->cancel();  // released() answers
}

// The client waits for leave to send its body.
void ClientConnection::askForBody() {
    if (!exchange_->request.expectContinue || continued_ || bodyDone_) return;
    if (!piece_.empty() || phase_ != Phase::Chain) return;
    continued_ = true;
    out_.add(kContinue);
    flush();
}

void ClientConnection::pumpBody() {
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
        if (bodyForwarded_) return stopReading();
    }
}

// Queues one piece of the request body, framed as the head announced.
void ClientConnection::queueBody(std::string_view piece, bool last) {
    exchange_->bodyState = chain::BodyState::Taken;
    bodyForwarded_ = last;
    if (!chunkedUp_) return call_->add(piece);
    if (!piece.empty()) {
        call_->add(http::writeChunkSize(chunkHeads_, piece.size()));
        call_->add(piece);
        call_->add(last ? kChunkEndAndLast : kChunkEnd);
    } else if (last) {
        call_->add(kLastChunk);
    }
}

void ClientConnection::readBody(chain::Exchange& exchange, weir_operation operation, std::size_t limit) {
    operation_ = operation;
    collected_ = new (exchange.allocate(sizeof(Collected))) Collected;
    collected_->limit = limit;
    sink_ = Sink::Collect;
    const http::RequestHead& request = exchange.request;
    if (request.body == http::BodyKind::Length && request.contentLength > limit) {
        sink_ = Sink::None;
        return exchange.complete(std::exchange(operation_, 0), WEIR_TOO_LARGE);
    }
    if (bodyDone_) collect();
    else loop_.events.requeue(*this);  // a plugin is on the stack: nothing that may end the exchange happens here
}

void ClientConnection::cancelReadBody(chain::Exchange&) {
    // What was collected stays: the body is gone from the connection, so nobody else can have it whole.
    stopReading();
    operation_ = 0;
    exchange_->bodyState = chain::BodyState::Taken;
}

void ClientConnection::collect() {
    for (int turn = 0;; ++turn) {
        Collected& to = *collected_;
        if (!piece_.empty()) {
            if (piece_.size() > to.limit - to.size) {
                stopReading();
                exchange_->bodyState = chain::BodyState::Taken;
                return exchange_->complete(std::exchange(operation_, 0), WEIR_TOO_LARGE);
            }
            if (to.size + piece_.size() > to.capacity) {
                const http::RequestHead& request = exchange_->request;
                std::size_t capacity = std::max<std::size_t>({to.capacity * 2, to.size + piece_.size(), 4096});
                if (request.body == http::BodyKind::Length) capacity = request.contentLength;
                auto* grown = static_cast<char*>(exchange_->large(capacity));
                if (to.size) std::memcpy(grown, to.data, to.size);
                if (to.data) exchange_->largeFree(to.data);
                to.data = grown;
                to.capacity = capacity;
            }
            std::memcpy(to.data + to.size, piece_.data(), piece_.size());
            to.size += piece_.size();
            piece_ = {};
        }
        if (bodyDone_) {
            stopReading();
            return exchange_->complete(std::exchange(operation_, 0), WEIR_OK,
                                       to.data ? std::string_view(to.data, to.size) : std::string_view("", 0));
        }
        if (turn == kReadsPerWake) return loop_.events.requeue(*this);
        if (!readBodyBytes()) return;
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
    callBeganNs_ = timed ? loop_.events.nowNs() : 0;
    call_ = loop_.upstreams.acquire(server, fresh);
    if (!call_) {
        operation_ = 0;
        tellBalancer(true);
        return exchange_->complete(operation, server->addresses.empty() ? WEIR_CALL_UNRESOLVED : WEIR_CALL_REFUSED);
    }
    const upstream::Connection::Timeouts timeouts{loop_.limits.connect, net::Milliseconds(route->timeout_ms),
                                                  loop_.limits.upstreamBody};
    call_->begin(*this, *exchange_, exchange_->response.head, exchange_->request.method == "HEAD", timeouts);
    sendRequest();
}

// How the call went, for a balancer that wants to know. Once for each pick that was dialled.
void ClientConnection::tellBalancer(bool failed) {
    if (!callBeganNs_) return;
    const std::uint64_t latency = loop_.events.nowNs() - std::exchange(callBeganNs_, 0);
    const weir_route& route = *exchange_->route();
    setOf(route).done(route.balancer, route.index, latency, failed);
}

void ClientConnection::sendRequest() {
    chain::Exchange& exchange = *exchange_;
    const http::RequestHead& request = exchange.request;
    http::UpstreamTarget target;
    target.path = exchange.slot(WEIR_SLOT_REWRITE_URI);
    if (!target.path.data()) target.path = exchange.slot(WEIR_SLOT_REAL_URL);
    if (!target.path.data()) target.path = request.path;
    target.query = request.query;
    target.host = setOf(*exchange.route()).server(exchange.route()->index)->url;

    const bool buffered = exchange.bodyState == chain::BodyState::Buffered;
    const bool streaming = exchange.bodyState == chain::BodyState::Streaming;
    http::RequestFraming framing;
    if (buffered) framing = {http::BodyKind::Length, exchange.bufferedBody.size()};
    else if (request.body == http::BodyKind::Length) framing = {http::BodyKind::Length, request.contentLength};
    else if (streaming) framing = {http::BodyKind::Chunked, 0};
    else if (request.body == http::BodyKind::Chunked) framing = {http::BodyKind::Length, 0};  // an empty one
    chunkedUp_ = framing.kind == http::BodyKind::Chunked;
    if (!chunkHeads_) chunkHeads_ = exchange.allocateArray<char>(48);

    call_->add(http::writeRequestHead(exchange, request, target, framing, exchange.clientAddress));
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
    loop_.events.requeue(*this);  // a plugin may be on the stack: nothing that may end the exchange happens here
}

void ClientConnection::cancelCall(chain::Exchange&) {
    if (!call_) return;
    std::exchange(call_, nullptr)->abandon();
    tellBalancer(true);
    operation_ = 0;
    if (sink_ == Sink::Call) stopReading();
}

void ClientConnection::onCallWritten() {
    if (sink_ == Sink::Call) pumpToCall();
}

// An idle connection that the upstream closed just when we used it: nothing of the request was acted upon if it may be
// repeated, so one fresh connection gets it.
bool ClientConnection::mayRedial(weir_call why) const {
    return why == WEIR_CALL_RESET && call_->reused() && !call_->anythingRead() && !redialled_ &&
           (exchange_->bodyState == chain::BodyState::Absent || exchange_->bodyState == chain::BodyState::Buffered) &&
           isIdempotent(exchange_->request.method);
}

void ClientConnection::onCallFailed(weir_call why) {
    const bool redial = mayRedial(why);
    call_ = nullptr;
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

void ClientConnection::onCallHead() {
    tellBalancer(false);
    net::Buffer* head = call_->takeHeadBuffer();
    head->next = heads_;
    heads_ = head;
    exchange_->response.source = chain::ResponseSource::Upstream;
    exchange_->complete(std::exchange(operation_, 0), WEIR_CALL_OK);
}

// ---- The response ----

// Decides how the response is framed and whether the connection stays.
http::ResponseFraming ClientConnection::framing() {
    using Kind = http::ResponseFraming::Kind;
    const http::RequestHead& request = exchange_->request;
    const http::ResponseHead& head = exchange_->response.head;
    http::ResponseFraming framing;
    bodyless_ = request.method == "HEAD" || head.status == 204 || head.status == 304;
    if (exchange_->response.source == chain::ResponseSource::Upstream) {
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
    if (head.status == 204) framing.kind = Kind::None;
    chunkedDown_ = framing.kind == Kind::Chunked && !bodyless_;
    if (framing.kind == Kind::UntilClose) keepAlive_ = false;
    // What is left of the request body is either forwarded beside the response, or short enough to throw away. One
    // that the client holds back for a 100 Continue may never come.
    if (!bodyDone_) {
        const bool forwarded = sink_ == Sink::Call && !call_->bodyDone();
        const bool shortBody = request.body == http::BodyKind::Length && request.contentLength <= kMaxDrained;
        if ((!forwarded && !shortBody) || (request.expectContinue && !continued_)) keepAlive_ = false;
    }
    if (loop_.draining()) keepAlive_ = false;
    framing.close = !keepAlive_;
    framing.sayKeepAlive = keepAlive_ && request.version < 11;
    return framing;
}

void ClientConnection::commit(chain::Exchange& exchange) {
    phase_ = Phase::Response;
    chain::ResponseState& response = exchange.response;
    if (response.source == chain::ResponseSource::None)
        exchange.replyError(500, -1, "the chain ended without a response");
    if (!chunkHeads_) chunkHeads_ = exchange.allocateArray<char>(48);
    const http::ResponseFraming framed = framing();
    out_.add(http::writeResponseHead(exchange, response.head, framed));
    if (response.source == chain::ResponseSource::Local) {
        if (!bodyless_) out_.add(response.body);
        responseDone_ = true;
    } else {
        queueResponse(call_->body(), call_->bodyDone());
    }
    flush();
}

void ClientConnection::queueResponse(std::string_view piece, bool last) {
    responseDone_ = last;
    if (bodyless_) return;
    if (!chunkedDown_) return out_.add(piece);
    if (!piece.empty()) {
        out_.add(http::writeChunkSize(chunkHeads_ + 24, piece.size()));
        out_.add(piece);
        out_.add(last ? kChunkEndAndLast : kChunkEnd);
    } else if (last) {
        out_.add(kLastChunk);
    }
}

void ClientConnection::onCallBody() {
    queueResponse(call_->body(), call_->bodyDone());
    flush();
}

void ClientConnection::onCallBroken() {
    call_ = nullptr;
    abort();  // the client must see that it is cut; the head is out, as nothing is read before
}

void ClientConnection::flush() {
    switch (out_.flush(*this)) {
        case net::OutQueue::State::Done:
            if (phase_ == Phase::Response) written();
            return;
        case net::OutQueue::State::Blocked:
            if (phase_ == Phase::Response) timer_.arm(loop_.events, loop_.limits.body);
            return;
        case net::OutQueue::State::Failed: return abort();
    }
}

// Everything queued so far is with the socket.
void ClientConnection::written() {
    if (responseDone_) return responseOver();
    if (sink_ != Sink::Call || call_->blocked()) timer_.disarm();  // else the request body is waited for
    call_->readBody();
}

void ClientConnection::responseOver() {
    timer_.disarm();
    if (call_) std::exchange(call_, nullptr)->end();
    const http::RequestHead& request = exchange_->request;
    const bool shortBody = request.body == http::BodyKind::Length && request.contentLength <= kMaxDrained;
    if (!bodyDone_ && !shortBody) keepAlive_ = false;
    if (bodyDone_ || !keepAlive_) return finishExchange(WEIR_FINISH_OK);
    phase_ = Phase::Drain;
    sink_ = Sink::Discard;
    discard();
}

void ClientConnection::finishExchange(weir_finish how) {
    if (exchange_->committed()) {
        cancelCall(*exchange_);
        exchange_->finish(how);
    } else {
        exchange_->cancel();
    }
}

// The exchange is over; the connection goes on or closes.
void ClientConnection::released(chain::Exchange& exchange) {
    while (heads_) loop_.context.buffers.give(std::exchange(heads_, heads_->next));
    chain::Exchange::destroy(&exchange);
    exchange_ = nullptr;
    parser_ = nullptr;
    collected_ = nullptr;
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
