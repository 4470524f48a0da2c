#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/loop_counter.hpp"
#include "http/message_parser.hpp"
#include "net/buffer_pool.hpp"
#include "net/event_loop.hpp"
#include "net/out_queue.hpp"
#include "upstream/server_registry.hpp"
#include "weir/abi.h"

namespace weir::upstream {

class ConnectionPool;

// Who made a call. Called on the loop; may end the call from within any of these.
class CallListener {
public:
    // An interim response (100, 102, 103, ...) is in the head that begin() got; what comes next overwrites it.
    virtual void onCallInterim() = 0;
    // The response head is complete; the first body bytes may be there already. Reading stops until readBody().
    virtual void onCallHead() = 0;
    // The next body bytes (body(), bodyDone()). Reading stops until readBody().
    virtual void onCallBody() = 0;
    // No usable head came.
    virtual void onCallFailed(weir_call why) = 0;
    // The body broke off.
    virtual void onCallBroken() = 0;
    // Everything that was queued has been written: more of the request body may follow.
    virtual void onCallWritten() = 0;

protected:
    ~CallListener() = default;
};

// One connection to an upstream: idle in its pool, or carrying one call at a time. Loop thread only.
class Connection final : public net::Source {
public:
    struct Timeouts {
        net::Milliseconds connect{3000};
        net::Milliseconds response{3000};  // last request byte to response head
        net::Milliseconds body{60000};     // without a byte, either way
    };

    // ---- a call, from ConnectionPool::acquire() to end() or abandon() ----
    // What the response depends on: to HEAD no body comes; a request that asked for an upgrade may get a 101, after
    // which both bodies are what the two sides of another protocol say (switched()).
    struct Asked {
        bool head = false;
        bool upgrade = false;
    };
    // `head` and `arena` outlive the call.
    void begin(CallListener& listener, base::Arena& arena, http::ResponseHead& head, Asked asked,
               const Timeouts& timeouts);
    // Queue pieces (they stay until written), then send(). `last`: the request is complete with them; once switched it
    // closes our side.
    void add(std::string_view piece) { out_.add(piece); }
    void send(bool last);
    // The same when the other events of the loop's batch have been seen (EventLoop::defer): the first send of a call.
    void sendLater(bool last);
    // Nothing of the request was written: sendLater() has still to do it, or failed before.
    bool unsent() const { return unsent_; }
    bool blocked() const { return !out_.empty(); }
    bool reused() const { return reused_; }           // was idle in the pool before this call
    bool anythingRead() const { return anyRead_; }    // of this call's reply

    std::string_view body() const { return body_; }
    std::string_view takeBody() { return std::exchange(body_, {}); }
    bool bodyDone() const { return bodyDone_; }
    bool switched() const { return switched_; }
    const Server& server() const { return *server_; }
    // body() has been used up: go on reading.
    void readBody();
    // Read no more until readBody().
    void pause();
    // The buffer the head's views point into; the caller gives it back to the loop's pool when the exchange is over.
    net::Buffer* takeHeadBuffer();

    // The call is over: back into the pool if the connection can serve another, else closed.
    void end();
    // The call is cancelled: the connection is closed.
    void abandon();

private:
    friend class ConnectionPool;
    enum class State : std::uint8_t { Connecting, Idle, Busy, Closed };
    enum class Waiting : std::uint8_t { Nothing, Connect, Response, Body, Idle };

    Connection(ConnectionPool& pool, std::shared_ptr<const Server> server,
               std::shared_ptr<const AddressList> addresses, std::uint32_t turn);

    void onReady() override;
    void onDeferred() override;
    static void onTimer(void* self);
    void connected();
    void write();
    [[gnu::cold]] bool tryAddress();
    [[gnu::cold]] bool connectNext();
    const net::Endpoint& address() const { return addresses_->choose(turn_, attempt_); }
    void read();
    void readSome();
    bool feed(net::Buffer& buffer);
    [[gnu::cold]] bool interim(net::Buffer& buffer);
    [[gnu::cold]] void switchProtocols(net::Buffer& buffer);
    void ended();
    [[gnu::cold]] void fail(weir_call why);
    void arm(Waiting what);
    [[gnu::cold]] void close();
    bool reusable();

    ConnectionPool& pool_;
    std::shared_ptr<const Server> server_;
    std::shared_ptr<const AddressList> addresses_;  // as they were when it was opened
    net::Timer timer_;
    net::OutQueue out_;
    CallListener* listener_ = nullptr;
    base::Arena* arena_ = nullptr;
    http::ResponseHead* head_ = nullptr;
    http::ResponseParser* parser_ = nullptr;
    net::Buffer* headBuffer_ = nullptr;
    net::Buffer* bodyBuffer_ = nullptr;
    std::string_view body_;
    Timeouts timeouts_;
    http::FieldTable::Mark fieldMark_ = 0;
    std::uint32_t turn_ = 0;
    std::uint32_t attempt_ = 0;  // of turn_ at addresses_: what is connected to, or was last
    State state_ = State::Closed;
    Waiting waiting_ = Waiting::Nothing;
    Asked asked_;
    bool switched_ = false;
    bool reading_ = false;      // wants bytes
    bool inRead_ = false;       // reads now: no need to be called again
    bool headDone_ = false;
    bool bodyDone_ = false;
    bool requestDone_ = false;  // all of it is queued
    bool requestSent_ = false;  // and written
    bool unsent_ = false;       // sendLater() has still to write the first of it
    bool reused_ = false;
    bool anyRead_ = false;
    bool surplus_ = false;      // bytes behind the response
    std::uint8_t interim_ = 0;  // 1xx heads seen
    Connection* newer_ = nullptr;  // idle list
    Connection* older_ = nullptr;
    Connection* nextOpen_ = nullptr;  // all of the pool
    Connection* previousOpen_ = nullptr;
};

// The connections of one loop to all upstreams. Loop thread only.
class ConnectionPool {
public:
    struct Limits {
        std::uint32_t maxIdle = 256;               // kept open without a call, all servers together
        net::Milliseconds idleTimeout{60000};
        http::ParseLimits parse;
    };

    ConnectionPool(net::EventLoop& loop, net::BufferPool& buffers, const Limits& limits)
        : loop_(loop), buffers_(buffers), limits_(limits) {}
    ~ConnectionPool();
    ConnectionPool(const ConnectionPool&) = delete;
    ConnectionPool& operator=(const ConnectionPool&) = delete;

    // An idle connection, the last used first, or a new one that is being connected; call begin() on it. fresh: never
    // an idle one. Null when the server has no address or no descriptor can be had.
    Connection* acquire(const std::shared_ptr<const Server>& server, bool fresh = false);
    // The server's name has an address, as far as this loop has heard.
    bool resolved(const Server& server) const {
        return server.id < places_.size() && places_[server.id].addresses != nullptr;
    }
    // From now on these are the addresses of the server with that id: idle connections to others are closed, running
    // ones when their call is over. Null: the id means no server any more, and nobody here holds the one it meant.
    void setAddresses(std::uint32_t id, std::shared_ptr<const AddressList> addresses);

    struct Counters {  // any thread may read them
        base::LoopCounter opened;
        base::LoopCounter reused;
        base::LoopCounter idle;
        base::LoopCounter open;
    };
    const Counters& counters() const { return counters_; }

private:
    friend class Connection;

    struct Place {
        std::shared_ptr<const AddressList> addresses;
        Connection* newest = nullptr;  // of the idle ones
        std::uint32_t turns = 0;       // connections opened
    };

    void park(Connection& connection);
    void unpark(Connection& connection);

    net::EventLoop& loop_;
    net::BufferPool& buffers_;
    const Limits limits_;
    std::vector<Place> places_;  // by server id
    Connection* open_ = nullptr;
    Counters counters_;
};

}  // namespace weir::upstream
