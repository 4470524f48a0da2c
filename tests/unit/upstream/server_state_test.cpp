#include "upstream/server_state.hpp"

#include "support/catch.hpp"

using namespace std::chrono_literals;
using weir::upstream::EjectionPolicy;
using weir::upstream::ServerState;

namespace {

constexpr EjectionPolicy kPolicy{3, 10s, 25s};

std::uint64_t at(std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

// Failures until one ejects; the rest.
std::chrono::nanoseconds failUntilEjected(ServerState& state, std::chrono::nanoseconds now) {
    for (int i = 0; i < 10; ++i) {
        const auto rest = state.callFailed(at(now), kPolicy);
        if (rest > 0s) return rest;
    }
    return 0s;
}

}  // namespace

TEST_CASE("calls are counted while they last, and their latency is smoothed") {
    ServerState state;
    state.callBegan();
    state.callBegan();
    CHECK(state.inFlight == 2);
    CHECK(state.calls == 2);
    CHECK_FALSE(state.callAnswered(8000, 1));
    CHECK(state.latencyNs == 8000);
    state.callAnswered(16000, 2);
    CHECK(state.latencyNs == 9000);
    state.callAnswered(1000, 3);
    CHECK(state.latencyNs == 8000);
    CHECK(state.inFlight == 2);  // until the bodies are over
    state.callEnded();
    state.callEnded();
    CHECK(state.inFlight == 0);
}

TEST_CASE("so many failures in a row eject, a response head in between starts the row anew") {
    ServerState state;
    CHECK(state.callFailed(at(400s), kPolicy) == 0s);
    CHECK(state.callFailed(at(400s), kPolicy) == 0s);
    state.callAnswered(1, at(400s));
    CHECK(state.callFailed(at(400s), kPolicy) == 0s);
    CHECK(state.callFailed(at(400s), kPolicy) == 0s);
    CHECK_FALSE(state.ejected());
    CHECK(state.callFailed(at(400s), kPolicy) == 10s);
    CHECK(state.ejected());
    CHECK(state.resting(at(409s)));
    CHECK_FALSE(state.resting(at(410s)));
    CHECK(*state.out == 1);
    CHECK(state.failures == 5);
}

TEST_CASE("with 0 failures nobody is ever ejected") {
    ServerState state;
    for (int i = 0; i < 100; ++i) CHECK(state.callFailed(at(400s), {0, 10s, 25s}) == 0s);
    CHECK_FALSE(state.ejected());
}

TEST_CASE("failures of calls that were on their way do not make the rest longer") {
    ServerState state;
    REQUIRE(failUntilEjected(state, 400s) == 10s);
    CHECK(state.callFailed(at(405s), kPolicy) == 0s);
    CHECK(state.callFailed(at(409s), kPolicy) == 0s);
    CHECK_FALSE(state.resting(at(410s)));
}

TEST_CASE("after the rest one call at a time is a trial, until one is answered") {
    ServerState state;
    CHECK_FALSE(state.takeTrial(at(400s)));  // it is in use
    REQUIRE(failUntilEjected(state, 400s) == 10s);
    CHECK_FALSE(state.takeTrial(at(409s)));
    REQUIRE(state.takeTrial(at(410s)));
    CHECK_FALSE(state.takeTrial(at(411s)));

    SECTION("a failed one is a longer rest") {
        CHECK(state.callFailed(at(412s), kPolicy) == 20s);
        CHECK(state.callFailed(at(412s), kPolicy) == 0s);
        CHECK_FALSE(state.takeTrial(at(431s)));
        REQUIRE(state.takeTrial(at(432s)));
        CHECK(state.callFailed(at(433s), kPolicy) == 25s);  // the longest
        CHECK(*state.out == 1);
    }
    SECTION("one that nobody waits for any more makes place for the next") {
        state.callDropped(at(412s));
        CHECK(state.takeTrial(at(412s)));
    }
    SECTION("one that came to nothing blocks for another rest") {
        CHECK_FALSE(state.takeTrial(at(419s)));
        CHECK(state.takeTrial(at(420s)));
    }
    SECTION("an answered one puts it back into use") {
        CHECK(state.callAnswered(1, at(412s)));
        CHECK_FALSE(state.ejected());
        CHECK(*state.out == 0);
        CHECK_FALSE(state.callAnswered(1, at(412s)));

        SECTION("the next ejection soon after is longer") { CHECK(failUntilEjected(state, 420s) == 20s); }
        SECTION("after a good while it is as the first") { CHECK(failUntilEjected(state, 437s) == 10s); }
    }
}

TEST_CASE("who is unhealthy counts as out once") {
    ServerState state;
    state.setUnhealthy(true);
    state.setUnhealthy(true);
    CHECK(*state.out == 1);
    state.setUnhealthy(false);
    state.setUnhealthy(false);
    CHECK(*state.out == 0);
}
