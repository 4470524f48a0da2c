#include "upstream/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace weir::upstream {

namespace {
constexpr int kReadsPerWake = 8;       // then the others have their turn
constexpr std::uint8_t kMaxInterim = 16;  // 1xx heads before the final one
}  // namespace

Connection::Connection(ConnectionPool& pool, std::shared_ptr<const Server> server,
                       std::shared_ptr<const AddressList> addresses, std::uint32_t turn)
    : pool_(pool), server_(std::move(server)), addresses_(std::move(addresses)), timer_(&Connection::onTimer, this),
      turn_(turn) {}

// ---- A call ----

void Connection::begin(CallListener& listener, base::Arena& arena, http::ResponseHead& head, Asked asked,
                       const Timeouts& timeouts) {
    listener_ = &listener;
    arena_ = &arena;
    head_ = &head;
    timeouts_ = timeouts;
    asked_ = asked;
    fieldMark_ = head.fields.mark();
    head.fields.beginEdit();
    parser_ = http::ResponseParser::make(arena, head, pool_.limits_.parse, asked.head);
    body_ = {};
    switched_ = headDone_ = bodyDone_ = requestDone_ = requestSent_ = unsent_ = anyRead_ = surplus_ = false;
    interim_ = 0;
    reading_ = true;
    arm(state_ == State::Connecting ? Waiting::Connect : Waiting::Nothing);
}

void Connection::send(bool last) {
    requestDone_ = requestDone_ || last;
    if (state_ == State::Connecting) return;
    unsent_ = false;
    switch (out_.flush(*this)) {
        case net::OutQueue::State::Done:
            if (requestSent_) return;
            requestSent_ = requestDone_;
            if (switched_ && requestSent_) ::shutdown(fd(), SHUT_WR);
            // Else the client is the slow one, with its body or with the response: it has timeouts of its own.
            if (headDone_) arm(reading_ ? Waiting::Body : Waiting::Nothing);
            else arm(requestSent_ ? Waiting::Response : Waiting::Nothing);
            return;
        case net::OutQueue::State::Blocked:
            arm(Waiting::Body);
            return;
        case net::OutQueue::State::Failed:
            // It may have answered before it closed (413 to a long body): what it said counts.
            out_.clear();
            requestDone_ = true;
            if (!headDone_) arm(Waiting::Response);
            pool_.loop_.requeue(*this);
            return;
    }
}

void Connection::sendLater(bool last) {
    requestDone_ = requestDone_ || last;
    if (state_ == State::Connecting) return;
    unsent_ = true;
    pool_.loop_.defer(*this);
}

void Connection::readBody() {
    body_ = {};
    if (bodyDone_) return;
    reading_ = true;
    arm(Waiting::Body);
    if (readable() && !inRead_) pool_.loop_.requeue(*this);
}

void Connection::pause() {
    reading_ = false;
    arm(Waiting::Nothing);
}

net::Buffer* Connection::takeHeadBuffer() { return std::exchange(headBuffer_, nullptr); }

bool Connection::reusable() {
    const bool complete = state_ == State::Busy && headDone_ && bodyDone_ && requestSent_ && !surplus_ && !switched_ &&
                          head_->keepAlive && head_->body != http::BodyKind::UntilClose && !peerClosed() &&
                          !broken();
    if (!complete || !readable()) [[likely]] return complete;
    // The last read filled its buffer to the brim. Idle connections must start drained: a later edge would go unseen.
    char surplus = 0;
    if (net::readSome(fd(), &surplus, 1) != -EAGAIN) return false;
    clearReadable();
    return true;
}

void Connection::end() {
    if (!reusable()) [[unlikely]] return abandon();
    listener_ = nullptr;
    reading_ = false;
    WEIR_ASSERT(!headBuffer_);
    if (bodyBuffer_) pool_.buffers_.give(std::exchange(bodyBuffer_, nullptr));
    pool_.park(*this);
}

void Connection::abandon() {
    listener_ = nullptr;
    close();
}

// ---- Events ----

void Connection::onReady() {
    switch (state_) {
        case State::Connecting:
            if (!writable() && !broken()) return;
            if (const int error = net::socketError(fd()); error != 0 || broken()) {
                if (!connectNext()) fail(WEIR_CALL_REFUSED);
                return;
            }
            connected();
            break;
        case State::Idle:  // it has nothing to say: it is closing, or out of step
            pool_.unpark(*this);
            close();
            return;
        case State::Busy:
            if (unsent_ && readable()) return fail(WEIR_CALL_RESET);  // what is there now is no answer to it
            break;
        case State::Closed: return;
    }
    if (writable()) write();
    if (listener_ && state_ == State::Busy) read();
}

void Connection::connected() {
    state_ = State::Busy;
    arm(Waiting::Nothing);
    write();
}

void Connection::onDeferred() { write(); }

// What is queued, and asks for more.
void Connection::write() {
    if (out_.empty()) return;
    send(false);
    if (listener_ && out_.empty() && !requestSent_) listener_->onCallWritten();
}

// Starts to connect to the address at hand, or to the next that takes a connect.
bool Connection::tryAddress() {
    for (; attempt_ < addresses_->size(); ++attempt_) {
        auto fd = net::startConnect(address());
        if (!fd.ok()) continue;
        if (pool_.loop_.add(*this, *fd)) {
            clearWritable();
            return true;
        }
        ::close(*fd);
    }
    return false;
}

// The next address of a name that has several.
bool Connection::connectNext() {
    pool_.loop_.close(*this);
    ++attempt_;
    return tryAddress();
}

void Connection::read() {
    inRead_ = true;
    readSome();
    inRead_ = false;
}

void Connection::readSome() {
    for (int turn = 0; reading_ && readable(); ++turn) {
        if (turn == kReadsPerWake) return pool_.loop_.requeue(*this);
        net::Buffer*& buffer = headDone_ ? bodyBuffer_ : headBuffer_;
        if (!buffer) buffer = pool_.buffers_.take();
        if (headDone_) buffer->begin = buffer->end = 0;
        const std::size_t room = buffer->room();
        const ssize_t got = net::readSome(fd(), buffer->tail(), room);
        if (got == -EAGAIN) {
            clearReadable();
            return;
        }
        if (got < 0) return fail(WEIR_CALL_RESET);
        if (got == 0) return ended();
        if (static_cast<std::size_t>(got) < room && !peerClosed() && !broken()) clearReadable();
        anyRead_ = true;
        buffer->end += static_cast<std::size_t>(got);
        if (!feed(*buffer)) return;
    }
}

// An interim response is complete: the next message starts behind it. false: stop reading.
bool Connection::interim(net::Buffer& buffer) {
    if (++interim_ > kMaxInterim || head_->status == 101) {  // a 101 that nobody asked for
        fail(WEIR_CALL_BAD_REPLY);
        return false;
    }
    listener_->onCallInterim();
    if (!listener_) return false;
    head_->fields.restore(fieldMark_);
    head_->fields.beginEdit();
    head_->status = 0;
    parser_ = http::ResponseParser::make(*arena_, *head_, pool_.limits_.parse, asked_.head);
    std::memmove(buffer.data, buffer.head(), buffer.pending());
    buffer.end = buffer.pending();
    buffer.begin = 0;
    return buffer.end > 0;
}

// What came behind a 101 is not HTTP any more, and what is sent from now on is not a request.
void Connection::switchProtocols(net::Buffer& buffer) {
    switched_ = true;
    requestDone_ = requestSent_ = false;
    body_ = {buffer.head(), buffer.pending()};
    buffer.begin = buffer.end;
    bodyDone_ = false;
}

// Hands new bytes to the parser and what comes of it to the listener. false: stop reading.
bool Connection::feed(net::Buffer& buffer) {
    if (switched_) {
        body_ = {buffer.head(), buffer.pending()};
        reading_ = false;
        listener_->onCallBody();
        return listener_ != nullptr;
    }
    for (;;) {
        const http::Fed fed = parser_->feed(buffer.head(), buffer.pending());
        if (fed.error) {
            fail(WEIR_CALL_BAD_REPLY);
            return false;
        }
        if (!fed.head) {
            if (buffer.room() > 0) return true;
            fail(WEIR_CALL_BAD_REPLY);
            return false;
        }
        buffer.begin += fed.consumed;
        const bool switching = !headDone_ && head_->status == 101 && asked_.upgrade;
        if (!headDone_ && head_->status < 200 && !switching) {
            if (interim(buffer)) continue;
            return listener_ != nullptr;
        }
        body_ = fed.body;
        bodyDone_ = fed.done;
        if (switching) switchProtocols(buffer);
        if (bodyDone_ && buffer.pending() > 0) surplus_ = true;
        const bool first = !headDone_;
        headDone_ = true;
        reading_ = false;
        arm(Waiting::Nothing);
        if (first) {
            head_->fields.preferParsed();
            listener_->onCallHead();
        } else if (body_.empty() && !bodyDone_) {  // framing bytes only
            reading_ = true;
            arm(Waiting::Body);
            return true;
        } else {
            listener_->onCallBody();
        }
        return listener_ != nullptr;
    }
}

void Connection::ended() {
    if (!headDone_) return fail(WEIR_CALL_RESET);
    if (!switched_) {
        const http::Fed fed = parser_->finish();
        if (fed.error || !fed.done) return fail(WEIR_CALL_RESET);
    }
    clearReadable();  // its end; our side may go on
    body_ = {};
    bodyDone_ = true;
    reading_ = false;
    arm(Waiting::Nothing);
    listener_->onCallBody();
}

void Connection::fail(weir_call why) {
    CallListener* listener = std::exchange(listener_, nullptr);
    const bool head = headDone_;
    if (listener && !head) {  // what a head that was refused has left points into a buffer that goes now
        head_->fields.restore(fieldMark_);
        head_->status = 0;
        head_->reason = {};
    }
    close();
    if (!listener) return;
    if (head) {
        listener->onCallBroken();
    } else {
        listener->onCallFailed(why);
    }
}

void Connection::arm(Waiting what) {
    if (what == Waiting::Body && switched_) what = Waiting::Nothing;  // how long both are silent is the client side's
    waiting_ = what;
    switch (what) {
        case Waiting::Nothing: timer_.disarm(); break;
        case Waiting::Connect: timer_.arm(pool_.loop_, timeouts_.connect); break;
        case Waiting::Response: timer_.arm(pool_.loop_, timeouts_.response); break;
        case Waiting::Body: timer_.arm(pool_.loop_, timeouts_.body); break;
        case Waiting::Idle: timer_.arm(pool_.loop_, pool_.limits_.idleTimeout); break;
    }
}

void Connection::onTimer(void* self) {
    auto& connection = *static_cast<Connection*>(self);
    switch (connection.waiting_) {
        case Waiting::Idle:
            connection.pool_.unpark(connection);
            connection.close();
            break;
        case Waiting::Connect: connection.fail(WEIR_CALL_CONNECT_TIMEOUT); break;
        case Waiting::Response:
        case Waiting::Body: connection.fail(WEIR_CALL_TIMEOUT); break;
        case Waiting::Nothing: break;
    }
}

void Connection::close() {
    if (state_ == State::Closed) return;
    state_ = State::Closed;
    timer_.disarm();
    out_.clear();
    if (fd() >= 0) pool_.loop_.close(*this);
    if (headBuffer_) pool_.buffers_.give(std::exchange(headBuffer_, nullptr));
    if (bodyBuffer_) pool_.buffers_.give(std::exchange(bodyBuffer_, nullptr));
    if (previousOpen_) previousOpen_->nextOpen_ = nextOpen_;
    else pool_.open_ = nextOpen_;
    if (nextOpen_) nextOpen_->previousOpen_ = previousOpen_;
    --pool_.counters_.open;
    pool_.loop_.retire(std::unique_ptr<Connection>(this));
}

// ---- The pool ----

ConnectionPool::~ConnectionPool() {
    while (open_) {
        open_->listener_ = nullptr;
        open_->close();
    }
}

Connection* ConnectionPool::acquire(const std::shared_ptr<const Server>& server, bool fresh) {
    if (!resolved(*server)) return nullptr;
    Place& place = places_[server->id];
    if (place.newest && !fresh) {
        Connection* connection = place.newest;
        unpark(*connection);
        connection->state_ = Connection::State::Busy;
        connection->reused_ = true;
        ++counters_.reused;
        return connection;
    }
    std::unique_ptr<Connection> made(new Connection(*this, server, place.addresses, place.turns++));
    if (!made->tryAddress()) return nullptr;
    made->state_ = Connection::State::Connecting;
    made->nextOpen_ = open_;
    if (open_) open_->previousOpen_ = made.get();
    open_ = made.get();
    ++counters_.opened;
    ++counters_.open;
    return made.release();
}

void ConnectionPool::setAddresses(std::uint32_t id, std::shared_ptr<const AddressList> addresses) {
    if (id >= places_.size()) places_.resize(id + 1);
    places_[id].addresses = std::move(addresses);
    for (Connection* connection = places_[id].newest; connection;) {
        Connection* older = connection->older_;
        if (!places_[id].addresses->has(connection->address())) {
            unpark(*connection);
            connection->close();
        }
        connection = older;
    }
}

void ConnectionPool::park(Connection& connection) {
    Place& place = places_[connection.server_->id];
    const bool current = place.addresses == connection.addresses_ || place.addresses->has(connection.address());
    if (counters_.idle >= limits_.maxIdle || !current) return connection.close();
    connection.state_ = Connection::State::Idle;
    connection.newer_ = nullptr;
    connection.older_ = place.newest;
    if (connection.older_) connection.older_->newer_ = &connection;
    place.newest = &connection;
    ++counters_.idle;
    connection.arm(Connection::Waiting::Idle);
}

void ConnectionPool::unpark(Connection& connection) {
    if (connection.newer_) connection.newer_->older_ = connection.older_;
    else places_[connection.server_->id].newest = connection.older_;
    if (connection.older_) connection.older_->newer_ = connection.newer_;
    connection.newer_ = connection.older_ = nullptr;
    --counters_.idle;
    connection.arm(Connection::Waiting::Nothing);
}

}  // namespace weir::upstream
