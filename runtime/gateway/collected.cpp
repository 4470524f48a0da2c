// Bodies that plugins read whole: the request's, and the response's before it is committed.
#include <algorithm>
#include <cstring>
#include <utility>

#include "gateway/client_connection.hpp"

namespace weir::gateway {

void ClientConnection::Collected::add(base::Arena& arena, std::string_view piece, std::size_t whole) {
    if (size + piece.size() > capacity) {
        capacity = std::max<std::size_t>({whole, capacity * 2, size + piece.size(), 4096});
        auto* grown = static_cast<char*>(arena.large(capacity));
        if (size) std::memcpy(grown, data, size);
        if (data) arena.largeFree(data);
        data = grown;
    }
    std::memcpy(data + size, piece.data(), piece.size());
    size += piece.size();
}

// ---- The request's ----

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
    const http::RequestHead& request = exchange_->request;
    const std::size_t whole = request.body == http::BodyKind::Length ? request.contentLength : 0;
    for (int turn = 0;; ++turn) {
        Collected& to = *collected_;
        if (!piece_.empty()) {
            if (piece_.size() > to.limit - to.size) {
                stopReading();
                exchange_->bodyState = chain::BodyState::Taken;
                return exchange_->complete(std::exchange(operation_, 0), WEIR_TOO_LARGE);
            }
            to.add(*exchange_, std::exchange(piece_, {}), whole);
        }
        if (bodyDone_) {
            stopReading();
            return exchange_->complete(std::exchange(operation_, 0), WEIR_OK, to.bytes());
        }
        if (turn == kReadsPerWake) return loop_.events.requeue(*this);
        if (!readBodyBytes()) return;
    }
}

// ---- The response's ----

void ClientConnection::readResponse(chain::Exchange& exchange, weir_operation operation, std::size_t limit) {
    const http::ResponseHead& head = exchange.response.head;
    if (head.body == http::BodyKind::Length && head.contentLength > limit)
        return exchange.complete(operation, WEIR_TOO_LARGE);
    operation_ = operation;
    if (!response_) response_ = new (exchange.allocate(sizeof(Collected))) Collected;
    response_->limit = limit;
    collecting_ = true;
    collectResponse();
}

void ClientConnection::cancelReadResponse(chain::Exchange&) {
    collecting_ = false;
    operation_ = 0;
    if (call_) call_->pause();
}

// Takes what the call has.
void ClientConnection::collectResponse() {
    const http::ResponseHead& head = exchange_->response.head;
    const std::string_view piece = call_->takeBody();
    if (!piece.empty())
        response_->add(*exchange_, piece, head.body == http::BodyKind::Length ? head.contentLength : 0);
    if (response_->size <= response_->limit && !call_->bodyDone()) return call_->readBody();
    collecting_ = false;
    if (response_->size > response_->limit) return exchange_->complete(std::exchange(operation_, 0), WEIR_TOO_LARGE);
    if (sink_ == Sink::Call) stopReading();  // the upstream has answered without the rest of the request
    endCall()->end();
    exchange_->complete(std::exchange(operation_, 0), WEIR_OK, std::exchange(response_, nullptr)->bytes());
}

}  // namespace weir::gateway
