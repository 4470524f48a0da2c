#include "chain_harness.hpp"
#include "support/catch.hpp"
#include "unit/upstream/counting_balancer.hpp"

using namespace weir::chain;
using namespace weir::chain::test;
using weir::Next;
using weir::NextResult;
using weir::Task;
using weir::upstream::test::CountingBalancer;
using namespace std::chrono_literals;

namespace {

using Done = CountingBalancer::Done;

// A chain in which "pick" stands where divide does; what stands where httpClient does is the test's.
struct Fixture {
    Fixture() : set(balancer.makeSet(2, servers)) {}
    ~Fixture() {
        if (h.committed()) h.finish();
    }

    weir_upstream_set* raw() const { return reinterpret_cast<weir_upstream_set*>(set.get()); }
    void addPicking() {
        h.plain("pick", [this](weir::Exchange& exchange) {
            weir_route route{};
            route.size = sizeof route;
            route.set = raw();
            route.index = exchange.pickUpstream(raw(), 0);
            exchange.setRoute(route);
            return weir::Answer::Next;
        });
    }
    void addCalling(int calls = 1) {
        h.coroutine("call", [calls](weir::Exchange&, Next next) -> Task<> {
            weir::Call call = weir::Call::None;
            for (int i = 0; i < calls && call != weir::Call::Ok; ++i) call = co_await weir::Host().callUpstream();
            co_await next();
        });
    }
    void endCall(weir_call how) {
        h.exchange->upstreamNs = 7;
        if (how == WEIR_CALL_OK) h.answerCall();
        else h.exchange->complete(h.call, how);
    }

    weir::upstream::ServerRegistry servers;
    CountingBalancer balancer;
    std::unique_ptr<weir::upstream::UpstreamSet> set;
    Harness h;
};

}  // namespace

TEST_CASE("a balancer hears once of each pick, whatever becomes of it") {
    Fixture f;
    std::vector<Done> expected;

    SECTION("the head came") {
        f.addPicking();
        f.addCalling();
        f.h.start();
        CHECK(f.balancer.open() == 1);
        f.endCall(WEIR_CALL_OK);
        expected = {{0, 7, false}};
    }
    SECTION("the call failed") {
        f.addPicking();
        f.addCalling();
        f.h.start();
        f.endCall(WEIR_CALL_TIMEOUT);
        expected = {{0, 7, true}};
    }
    SECTION("it was repeated to the same upstream, and counts as in flight until that has an answer") {
        f.addPicking();
        f.addCalling(2);
        f.h.start();
        f.endCall(WEIR_CALL_REFUSED);
        CHECK(f.balancer.open() == 1);
        f.endCall(WEIR_CALL_OK);
        expected = {{0, 7, false}};
    }
    SECTION("another was picked after it had failed") {
        f.addPicking();
        f.h.coroutine("failover", [&f](weir::Exchange& exchange, Next next) -> Task<> {
            weir_route route = *exchange.route();
            co_await weir::Host().callUpstream();
            const std::uint64_t tried = 1;
            route.index = exchange.pickUpstream(f.raw(), 0, &tried);
            exchange.setRoute(route);
            co_await weir::Host().callUpstream();
            co_await next();
        });
        f.h.start();
        f.endCall(WEIR_CALL_REFUSED);
        CHECK(f.balancer.dones == std::vector<Done>{{0, 7, true}});
        f.endCall(WEIR_CALL_OK);
        expected = {{0, 7, true}, {1, 7, false}};
    }
    SECTION("it was never called") {
        f.addPicking();
        f.h.plain("deny", [](weir::Exchange& exchange) { return exchange.replyError(403, 403, "no"); });
        f.h.start();
        expected = {{0, 0, false}};
    }
    SECTION("the route is to another one than was picked") {
        f.addPicking();
        f.h.plain("elsewhere", [](weir::Exchange& exchange) {
            weir_route route = *exchange.route();
            route.index = 1;
            exchange.setRoute(route);
            return weir::Answer::Next;
        });
        f.addCalling();
        f.h.start();
        f.endCall(WEIR_CALL_OK);
        expected = {{0, 0, false}};
    }
    SECTION("the client went while it was called") {
        f.addPicking();
        f.addCalling();
        f.h.start();
        f.h.exchange->upstreamNs = 9;  // as the carrier's cancelCall says
        f.h.exchange->cancel();
        expected = {{0, 0, false}};
    }
    SECTION("a deadline cut it off") {
        f.h.coroutine("limit", [&f](weir::Exchange& exchange, Next next) -> Task<> {
            const NextResult result = co_await next(1ms);
            CHECK(result == NextResult::TimedOut);
            CHECK(f.balancer.open() == 0);
            exchange.reply(504, "late");
        });
        f.addPicking();
        f.addCalling();
        f.h.start();
        f.h.spinUntil([&f] { return f.h.committed(); });
        expected = {{0, 0, false}};
    }
    CHECK(f.balancer.dones == expected);
    CHECK(f.balancer.open() == 0);
}

TEST_CASE("the trial of an ejected upstream that was picked but not called goes to the next pick") {
    Fixture f;
    weir::upstream::ServerState& state = f.set->server(0)->state;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    state.callFailed(static_cast<std::uint64_t>(now), {1, 1h, 1h});
    REQUIRE(state.takeTrial(static_cast<std::uint64_t>(now + std::chrono::nanoseconds(1h).count())));
    state.callDropped(static_cast<std::uint64_t>(now));  // its rest is over
    int picked = -1;
    f.h.plain("pick", [&](weir::Exchange& exchange) {
        picked = exchange.pickUpstream(f.raw(), 0);
        CHECK(exchange.pickUpstream(f.raw(), 0) == picked);
        return exchange.reply(200, "");
    });
    f.h.start();
    CHECK(picked == 0);
    CHECK(f.balancer.open() == 0);
    CHECK_FALSE(state.resting(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())));
}

TEST_CASE("only what is safe to send twice may be repeated (RFC 9110 9.2.2)") {
    struct Row {
        const char* method;
        BodyState body;
        weir_call result;
        bool may;
    };
    const Row rows[] = {
        {"GET", BodyState::Absent, WEIR_CALL_TIMEOUT, true},
        {"PUT", BodyState::Buffered, WEIR_CALL_RESET, true},
        {"DELETE", BodyState::Absent, WEIR_CALL_BAD_REPLY, true},
        {"PUT", BodyState::Taken, WEIR_CALL_RESET, false},
        {"POST", BodyState::Absent, WEIR_CALL_TIMEOUT, false},
        {"POST", BodyState::Buffered, WEIR_CALL_RESET, false},
        {"PATCH", BodyState::Buffered, WEIR_CALL_BAD_REPLY, false},
        {"POST", BodyState::Streaming, WEIR_CALL_REFUSED, true},
        {"POST", BodyState::Absent, WEIR_CALL_CONNECT_TIMEOUT, true},
        {"POST", BodyState::Buffered, WEIR_CALL_UNRESOLVED, true},
        {"POST", BodyState::Taken, WEIR_CALL_REFUSED, false},
        {"GET", BodyState::Absent, WEIR_CALL_OK, false},
    };
    for (const Row& row : rows) {
        INFO(row.method << ", body " << static_cast<int>(row.body) << ", ended " << row.result);
        Fixture f;
        bool may = !row.may;
        f.addPicking();
        f.h.coroutine("call", [&](weir::Exchange& exchange, Next next) -> Task<> {
            co_await weir::Host().callUpstream();
            may = exchange.mayRepeatCall();
            co_await next();
        });
        f.h.start(row.body);
        f.h.exchange->request.method = row.method;
        f.endCall(row.result);
        CHECK(may == row.may);
    }
}

TEST_CASE("a repeat takes a place of the budget, and gives it back however its call ends") {
    Fixture f;
    f.h.context().retryBudget = {0, 1};
    const auto free = [&f] {
        if (!f.set->takeRetry({0, 1})) return false;
        f.set->giveRetry();
        return true;
    };
    bool began = false;
    f.h.coroutine("limit", [](weir::Exchange& exchange, Next next) -> Task<> {
        const NextResult result = co_await next(50ms);
        if (result == NextResult::TimedOut) exchange.reply(504, "late");
    });
    f.addPicking();
    f.h.coroutine("call", [&](weir::Exchange& exchange, Next next) -> Task<> {
        co_await weir::Host().callUpstream();
        began = exchange.beginRepeat();
        if (began) co_await weir::Host().callUpstream();
        co_await next();
    });
    f.h.start();
    SECTION("the call was answered") {
        f.endCall(WEIR_CALL_TIMEOUT);
        CHECK(began);
        CHECK_FALSE(free());
        f.endCall(WEIR_CALL_OK);
    }
    SECTION("the call failed") {
        f.endCall(WEIR_CALL_TIMEOUT);
        CHECK_FALSE(free());
        f.endCall(WEIR_CALL_TIMEOUT);
    }
    SECTION("the client went") {
        f.endCall(WEIR_CALL_TIMEOUT);
        CHECK_FALSE(free());
        f.h.exchange->cancel();
    }
    SECTION("a deadline passed") {
        f.endCall(WEIR_CALL_TIMEOUT);
        CHECK_FALSE(free());
        f.h.spinUntil([&f] { return f.h.committed(); });
    }
    SECTION("there was none") {
        REQUIRE(f.set->takeRetry({0, 1}));
        f.endCall(WEIR_CALL_TIMEOUT);
        CHECK_FALSE(began);
        f.set->giveRetry();
    }
    CHECK(free());
}
