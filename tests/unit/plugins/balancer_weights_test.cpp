#include "load-balancer/weights.hpp"

#include <cmath>

#include "load-balancer/random_balancer.hpp"
#include "support/catch.hpp"
#include "unit/plugins/balancer_clock.hpp"

using namespace weir::test;
using weir::effectiveWeight;
using weir::Upstream;
using weir::balance::RandomBalancer;
using weir::balance::Weights;

namespace {

Upstream upstream(std::uint32_t weight, std::int64_t timestampMs, std::int64_t warmupMs) {
    Upstream out;
    out.weight = weight;
    out.timestampMs = timestampMs;
    out.warmupMs = warmupMs;
    return out;
}

}  // namespace

// The grown weights were computed with ShenYu's expression by Java.
TEST_CASE("a weight grows from 1 to the whole within the warm-up, in single precision") {
    struct Row { std::int64_t uptime; std::int64_t warmup; std::uint32_t weight; std::uint32_t effective; };
    const Row rows[] = {
        {-1, 600000, 50, 50},  // before its time stamp: as in ShenYu the whole weight
        {0, 600000, 50, 50},
        {1, 600000, 50, 1},
        {23999, 600000, 50, 1},
        {24000, 600000, 50, 2},
        {300000, 600000, 50, 25},
        {599999, 600000, 50, 49},
        {600000, 600000, 50, 50},
        {5000, 0, 50, 50},
        {5000, -1, 50, 50},
        {5000, 600000, 0, 0},
        {5000, 600000, 1, 1},
        {16777217, 33554432, 33554432, 16777216},
        {1999999999, 2147483647, 2147483647, 2000000000},
        {2147483646, 2147483647, 2147483647, 2147483647},
    };
    const std::int64_t began = 1'700'000'000'000;
    for (const Row& row : rows) {
        INFO(row.uptime << " of " << row.warmup << ", weight " << row.weight);
        CHECK(effectiveWeight(upstream(row.weight, began, row.warmup), began + row.uptime) == row.effective);
    }
}

TEST_CASE("an upstream without a time stamp has its whole weight, one that is taken out has none") {
    CHECK(effectiveWeight(upstream(50, 0, 600000), 1000) == 50);
    CHECK(effectiveWeight(upstream(50, -5, 600000), 1000) == 50);
    Upstream off = upstream(50, 0, 0);
    off.status = false;
    CHECK(effectiveWeight(off, 1000) == 0);
}

TEST_CASE("weights settle for good when the last warm-up ends, whatever the clock says then") {
    BalancerClock clock;
    auto list = upstreamsOf({10, 10, 10});
    list[0].timestampMs = list[1].timestampMs = clock.wallMs;
    list[0].warmupMs = 1000;
    list[1].warmupMs = 5000;
    Weights weights(list, BalancerClock::kClock);
    clock.pass(500);
    CHECK(weights.at(0, weights.now()) == 5);
    CHECK(weights.at(1, weights.now()) == 1);
    CHECK(weights.at(2, weights.now()) == 10);
    clock.pass(4499);
    CHECK(weights.now() == clock.wallMs);
    clock.pass(1);
    CHECK(weights.now() == Weights::kSettled);
    clock.pass(-4000);
    CHECK(weights.now() == Weights::kSettled);
    for (std::size_t i = 0; i < 3; ++i) CHECK(weights.at(i, Weights::kSettled) == 10);
}

TEST_CASE("weights of a set without warm-up are settled, and a warm-up may end beyond the end of time") {
    BalancerClock clock;
    auto list = upstreamsOf({10});
    CHECK(Weights(list, BalancerClock::kClock).now() == Weights::kSettled);
    list[0].timestampMs = clock.wallMs - 2000;
    list[0].warmupMs = 2000;
    CHECK(Weights(list, BalancerClock::kClock).now() == Weights::kSettled);
    list[0].warmupMs = INT64_MAX;
    CHECK(Weights(list, BalancerClock::kClock).now() == clock.wallMs);
}

TEST_CASE("random gives an upstream that warms up the share of its weight at the time of the pick") {
    BalancerClock clock;
    auto list = upstreamsOf({100, 100});
    list[1].timestampMs = clock.wallMs;
    list[1].warmupMs = 10000;
    RandomBalancer balancer(list, BalancerClock::kClock);
    struct Row { std::int64_t passMs; double share; };
    const Row rows[] = {{1, 1 / 101.0}, {2499, 0.2}, {2500, 1 / 3.0}, {5000, 0.5}};
    for (const Row& row : rows) {
        clock.pass(row.passMs);
        INFO("share " << row.share);
        const auto counts = countPicks(balancer, 2, 50000);
        CHECK(std::abs(counts[1] / 50000.0 - row.share) < 0.012);  // 5 sigma
    }
}
