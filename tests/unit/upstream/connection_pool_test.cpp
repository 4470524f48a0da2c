#include <poll.h>

#include "support/catch.hpp"
#include "support/recording_upstream.hpp"
#include "unit/upstream/endpoints.hpp"
#include "upstream/connection.hpp"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using support::RecordingUpstream;

namespace {

RecordingUpstream::Reply okay() {
    return [](const support::HttpMessage&) { return RecordingUpstream::ok("ok"); };
}

// A loop with a pool, and calls of one request each.
struct Fixture final : CallListener {
    Fixture() : pool(loop, buffers, {}) { server->id = 3; }

    std::shared_ptr<const AddressList> list(const std::vector<std::string>& hosts, int port) {
        return std::make_shared<const AddressList>(endpoints(hosts, static_cast<std::uint16_t>(port)));
    }
    // Begins a call and waits for its end; false: none could be begun, or it failed.
    bool call() { return begin() && end(); }
    bool begin() {
        if (!prepare()) return false;
        connection->send(true);
        return true;
    }
    bool prepare() {
        exchange.reset();
        over = failed = false;
        connection = pool.acquire(server);
        if (!connection) return false;
        exchange = std::make_unique<Exchange>(chunks);
        connection->begin(*this, exchange->arena, exchange->head, {}, {});
        connection->add("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        return true;
    }
    bool end() {
        const auto limit = std::chrono::steady_clock::now() + support::kDeadline;
        while (!over && std::chrono::steady_clock::now() < limit) loop.runOnce(net::Milliseconds(10));
        return over && !failed;
    }

    void onCallInterim() override {}
    void onCallHead() override {
        exchange->buffer = connection->takeHeadBuffer();
        next();
    }
    void onCallBody() override { next(); }
    void onCallFailed(weir_call) override { over = failed = true; }
    void onCallBroken() override { over = failed = true; }
    void onCallWritten() override {}
    void next() {
        if (!connection->bodyDone()) return connection->readBody();
        connection->end();
        buffers.give(exchange->buffer);
        over = true;
    }

    struct Exchange {
        explicit Exchange(base::ChunkPool& from) : pool(from) {}
        ~Exchange() { pool.give(chunk); }
        base::ChunkPool& pool;
        void* chunk = pool.take();
        base::Arena arena{pool, chunk, 0};
        http::ResponseHead head{arena};
        net::Buffer* buffer = nullptr;
    };

    net::EventLoop loop;
    net::BufferPool buffers;
    base::ChunkPool chunks;
    ConnectionPool pool;
    std::shared_ptr<Server> server = std::make_shared<Server>();
    std::unique_ptr<Exchange> exchange;
    Connection* connection = nullptr;
    bool over = false;
    bool failed = false;
};

}  // namespace

TEST_CASE("a server whose addresses the loop has not heard of can not be called") {
    Fixture fixture;
    CHECK_FALSE(fixture.pool.resolved(*fixture.server));
    CHECK_FALSE(fixture.begin());
    fixture.pool.setAddresses(3, fixture.list({"127.0.0.1"}, 1));
    CHECK(fixture.pool.resolved(*fixture.server));
    fixture.pool.setAddresses(3, nullptr);
    CHECK_FALSE(fixture.pool.resolved(*fixture.server));
}

TEST_CASE("an idle connection is used again while its address stands, and closed when it goes") {
    Fixture fixture;
    RecordingUpstream first;
    RecordingUpstream second(okay(), first.port(), "127.0.0.2");
    fixture.pool.setAddresses(3, fixture.list({"127.0.0.1"}, first.port()));
    REQUIRE(fixture.call());
    REQUIRE(fixture.call());
    CHECK(first.connections() == 1);
    SECTION("an address more changes nothing") {
        fixture.pool.setAddresses(3, fixture.list({"127.0.0.1", "127.0.0.2"}, first.port()));
        REQUIRE(fixture.call());
        CHECK(first.requests().size() == 3);
        CHECK(first.connections() == 1);
    }
    SECTION("another address is what the next call goes to") {
        fixture.pool.setAddresses(3, fixture.list({"127.0.0.2"}, first.port()));
        CHECK(fixture.pool.counters().idle == 0);
        REQUIRE(fixture.call());
        CHECK(second.requests().size() == 1);
        CHECK(first.requests().size() == 2);
    }
}

TEST_CASE("a call that runs when its address goes ends well, and its connection is not used again") {
    Fixture fixture;
    RecordingUpstream first;
    RecordingUpstream second(okay(), first.port(), "127.0.0.2");
    fixture.pool.setAddresses(3, fixture.list({"127.0.0.1"}, first.port()));
    REQUIRE(fixture.begin());
    fixture.pool.setAddresses(3, fixture.list({"127.0.0.2"}, first.port()));
    CHECK(fixture.end());
    CHECK(first.requests().size() == 1);
    CHECK(fixture.pool.counters().idle == 0);
    CHECK(fixture.call());
    CHECK(second.requests().size() == 1);
}

TEST_CASE("what an upstream says just before it gets a request is not taken for the response") {
    Fixture fixture;
    support::Gate gate;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        if (!connection.next()) return;
        connection.send(RecordingUpstream::ok("ok"));
        if (gate.wait()) connection.send(RecordingUpstream::ok("stale"));
        connection.next();
    });
    fixture.pool.setAddresses(3, fixture.list({"127.0.0.1"}, upstream.port()));
    REQUIRE(fixture.call());
    // Both are there before the loop looks: the call first, then the bytes.
    fixture.loop.post([&] {
        REQUIRE(fixture.prepare());
        fixture.connection->sendLater(true);
    });
    gate.open();
    pollfd readable{fixture.connection->fd(), POLLIN, 0};
    REQUIRE(::poll(&readable, 1, 10'000) == 1);
    fixture.loop.runOnce(net::Milliseconds(0));
    CHECK(fixture.failed);
    CHECK(upstream.waitForEnded(1));
    CHECK(upstream.requests().size() == 1);
}

TEST_CASE("new connections take the addresses of a name in turn, and the next one where one refuses") {
    Fixture fixture;
    RecordingUpstream first;
    const auto closing = [](const support::HttpMessage&) {
        return RecordingUpstream::ok("ok", "Connection: close\r\n");
    };
    RecordingUpstream second(RecordingUpstream::Reply(closing), first.port(), "127.0.0.2");
    SECTION("in turn") {
        RecordingUpstream third(RecordingUpstream::Reply(closing), first.port(), "127.0.0.3");
        fixture.pool.setAddresses(3, fixture.list({"127.0.0.2", "127.0.0.3"}, first.port()));
        for (int i = 0; i < 4; ++i) REQUIRE(fixture.call());
        CHECK(second.requests().size() == 2);
        CHECK(third.requests().size() == 2);
    }
    SECTION("the next one") {
        fixture.pool.setAddresses(3, fixture.list({"127.0.0.4", "127.0.0.2"}, first.port()));
        for (int i = 0; i < 4; ++i) REQUIRE(fixture.call());
        CHECK(second.requests().size() == 4);
    }
}
