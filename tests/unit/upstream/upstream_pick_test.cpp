#include <chrono>

#include "support/catch.hpp"
#include "unit/upstream/counting_balancer.hpp"

using namespace std::chrono_literals;
using namespace weir::upstream;
using weir::upstream::test::CountingBalancer;

namespace {

constexpr std::chrono::nanoseconds kLong = 1h;

std::uint64_t nowNs() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

struct Fixture {
    explicit Fixture(std::size_t count) : set(balancer.makeSet(count, servers)) {}

    int pick(const std::uint64_t* excluded = nullptr) {
        return set->pick(0, {sizeof(weir_pick), 0, {nullptr, 0}, excluded}, trial);
    }
    void eject(int index, std::chrono::nanoseconds rest = kLong) {
        set->server(index)->state.callFailed(nowNs(), {1, rest, rest});
    }

    ServerRegistry servers;
    CountingBalancer balancer;
    std::unique_ptr<UpstreamSet> set;
    bool trial = false;  // the last pick
};

}  // namespace

TEST_CASE("an ejected upstream is left out of picks while another is left") {
    Fixture f(3);
    CHECK(f.pick() == 0);
    f.eject(0);
    CHECK(f.pick() == 1);
    f.eject(1);
    CHECK(f.pick() == 2);
    const std::uint64_t two = 1 << 2;
    CHECK(f.pick(&two) == 0);  // tried before giving up
    f.eject(2);
    CHECK(f.pick() == 0);
    CHECK(f.balancer.dones.empty());
}

TEST_CASE("an unhealthy upstream is left out even when none is left then") {
    Fixture f(2);
    f.set->server(0)->state.setUnhealthy(true);
    CHECK(f.pick() == 1);
    f.eject(1);
    CHECK(f.pick() == 1);
    f.set->server(1)->state.setUnhealthy(true);
    CHECK(f.pick() == -1);
    f.set->server(0)->state.setUnhealthy(false);
    CHECK(f.pick() == 0);
}

TEST_CASE("after its rest an ejected upstream gets one pick, and all of them when its call is answered") {
    Fixture f(2);
    ServerState& state = f.set->server(0)->state;
    f.eject(0);
    CHECK(f.pick() == 1);
    REQUIRE(state.takeTrial(nowNs() + static_cast<std::uint64_t>(kLong.count())));
    state.callDropped(nowNs());  // the rest is over now
    CHECK(f.pick() == 0);
    CHECK(f.trial);
    CHECK(f.pick() == 1);
    CHECK_FALSE(f.trial);
    CHECK(f.pick() == 1);
    state.callAnswered(1, nowNs());
    CHECK(f.pick() == 0);
    CHECK(f.pick() == 0);
}

TEST_CASE("a set of more than 256 upstreams leaves out whom it must") {
    Fixture f(300);
    for (int i = 0; i < 299; ++i) f.eject(i);
    CHECK(f.pick() == 299);
    f.set->server(299)->state.setUnhealthy(true);
    CHECK(f.pick() == 0);
}

TEST_CASE("repeats are bounded by a share of the calls in flight, but some are always possible") {
    Fixture f(2);
    const RetryBudget budget{20, 2};
    CHECK(f.set->takeRetry(budget));
    CHECK(f.set->takeRetry(budget));
    CHECK_FALSE(f.set->takeRetry(budget));
    for (int i = 0; i < 20; ++i) f.set->server(i % 2)->state.callBegan();
    CHECK(f.set->takeRetry(budget));
    CHECK(f.set->takeRetry(budget));
    CHECK_FALSE(f.set->takeRetry(budget));
    f.set->giveRetry();
    CHECK(f.set->takeRetry(budget));
    CHECK_FALSE(f.set->takeRetry({0, 0}));
}
