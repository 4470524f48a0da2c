#include "load-balancer/least_active_balancer.hpp"

#include <cmath>
#include <memory>
#include <set>

#include "load-balancer/p2c_balancer.hpp"
#include "support/catch.hpp"
#include "unit/plugins/balancer_clock.hpp"

using namespace weir::test;
using weir::balance::LeastActiveBalancer;
using weir::balance::P2cBalancer;

TEST_CASE("leastActive gives each upstream one request before any gets a second, whatever the weights") {
    LeastActiveBalancer balancer(upstreamsOf({1, 50, 1000}));
    for (int round = 0; round < 5; ++round) {
        std::set<int> picked;
        for (int i = 0; i < 3; ++i) picked.insert(balancer.pick(kAnyone));
        CHECK(picked == std::set<int>{0, 1, 2});
    }
}

TEST_CASE("leastActive goes where requests have ended") {
    LeastActiveBalancer balancer(upstreamsOf({1, 1, 1}));
    for (int i = 0; i < 6; ++i) balancer.pick(kAnyone);
    balancer.done(1, 5_ms, false);
    CHECK(balancer.pick(kAnyone) == 1);
    balancer.done(2, 5_ms, true);
    CHECK(balancer.pick(kAnyone) == 2);
}

TEST_CASE("leastActive leaves out what is excluded and counts nothing when all is") {
    LeastActiveBalancer balancer(upstreamsOf({1, 1}));
    const std::uint64_t b = 0b10, both = 0b11;
    for (int i = 0; i < 5; ++i) CHECK(balancer.pick({"", &b}) == 0);
    for (int i = 0; i < 5; ++i) CHECK(balancer.pick({"", &both}) == -1);
    for (int i = 0; i < 5; ++i) CHECK(balancer.pick(kAnyone) == 1);
}

TEST_CASE("what is in flight at an upstream is counted for all sets and balancers that name it") {
    BalancerClock clock;
    const auto ab = upstreamsOf({1, 1});
    auto cb = ab;
    cb[0].url = "c:1";
    LeastActiveBalancer first(ab, BalancerClock::kClock);
    const std::uint64_t a = 0b01;
    for (int i = 0; i < 8; ++i) CHECK(first.pick({"", &a}) == 1);  // eight at b

    LeastActiveBalancer second(cb, BalancerClock::kClock);
    for (int i = 0; i < 8; ++i) CHECK(second.pick(kAnyone) == 0);  // eight at c
    P2cBalancer p2c(ab, BalancerClock::kClock);
    for (int i = 0; i < 8; ++i) CHECK(p2c.pick(kAnyone) == 0);  // and at a
    first.done(1, 5_ms, false);
    CHECK(second.pick(kAnyone) == 1);
}

TEST_CASE("what is in flight is still counted when a set changes, and forgotten with the last set that names it") {
    auto old = std::make_unique<LeastActiveBalancer>(upstreamsOf({1, 1}));
    const std::uint64_t b = 0b10;
    for (int i = 0; i < 8; ++i) old->pick({"", &b});
    auto changed = std::make_unique<LeastActiveBalancer>(upstreamsOf({1, 1, 1}));
    old.reset();
    for (int i = 0; i < 16; ++i) CHECK(changed->pick(kAnyone) != 0);
    changed.reset();

    LeastActiveBalancer again(upstreamsOf({1, 1}));
    for (int i = 0; i < 8; ++i) CHECK(again.pick(kAnyone) + again.pick(kAnyone) == 1);
}

TEST_CASE("an upstream of another protocol is another one") {
    auto list = upstreamsOf({1, 1});
    LeastActiveBalancer balancer(list);
    const std::uint64_t b = 0b10;
    for (int i = 0; i < 8; ++i) balancer.pick({"", &b});
    list[0].protocol = "https://";
    LeastActiveBalancer other(list);
    for (int i = 0; i < 8; ++i) CHECK(other.pick(kAnyone) + other.pick(kAnyone) == 1);
}

TEST_CASE("leastActive spreads requests that follow each other evenly") {
    LeastActiveBalancer balancer(upstreamsOf({1, 100, 1, 1}));
    for (int picks : countPicks(balancer, 4, 40000)) CHECK(std::abs(picks - 10000) < 450);  // 5 sigma
}
