#include "load-balancer/p2c_balancer.hpp"

#include "support/catch.hpp"
#include "unit/plugins/balancer_clock.hpp"

using namespace weir::test;
using weir::balance::P2cBalancer;

namespace {

// One request at a given upstream of `size`.
void serve(P2cBalancer& balancer, std::size_t size, int index, std::uint64_t latencyNs, bool failed = false) {
    const std::uint64_t others = ~(std::uint64_t{1} << index) & ((std::uint64_t{1} << size) - 1);
    REQUIRE(balancer.pick({"", &others}) == index);
    balancer.done(index, latencyNs, failed);
}

}  // namespace

TEST_CASE("p2c takes the upstream whose load is less: the root of its time in ms plus 1, times what is in flight") {
    struct Row { std::uint64_t a; std::uint64_t b; int inFlightAtB; int picked; };
    const Row rows[] = {
        {100_ms, 10_ms, 0, 1},   // 11 x 1 against 4 x 1
        {100_ms, 10_ms, 1, 1},   // 11 against 4 x 2
        {100_ms, 10_ms, 2, 0},   // 11 against 4 x 3
        {9_ms, 15_ms, 1, 0},     // 4 against 4 x 2
        {9_ms, 16_ms, 0, 0},     // 4 against 5
    };
    for (const Row& row : rows) {
        INFO(row.a << " against " << row.b << " with " << row.inFlightAtB << " more");
        BalancerClock clock;
        P2cBalancer balancer(upstreamsOf({1, 1}), BalancerClock::kClock);
        serve(balancer, 2, 0, row.a);
        serve(balancer, 2, 1, row.b);
        const std::uint64_t a = 0b01;
        for (int i = 0; i < row.inFlightAtB; ++i) CHECK(balancer.pick({"", &a}) == 1);
        for (int i = 0; i < 20; ++i) {
            CHECK(balancer.pick(kAnyone) == row.picked);
            balancer.done(row.picked, 0, false);
        }
    }
}

TEST_CASE("p2c takes the loser when it has rested for more than 3 s, once") {
    BalancerClock clock;
    P2cBalancer balancer(upstreamsOf({1, 1}), BalancerClock::kClock);
    serve(balancer, 2, 0, 1_ms);
    serve(balancer, 2, 1, 900_ms);
    clock.pass(3000);
    CHECK(countPicks(balancer, 2, 20) == std::vector{20, 0});
    clock.pass(1);
    CHECK(countPicks(balancer, 2, 20) == std::vector{19, 1});
}

TEST_CASE("p2c takes a loser neither while it owes an answer nor just after one that was long in coming") {
    BalancerClock clock;
    P2cBalancer balancer(upstreamsOf({1, 1}), BalancerClock::kClock);
    serve(balancer, 2, 0, 1_ms);
    serve(balancer, 2, 1, 900_ms);
    const std::uint64_t a = 0b01;
    CHECK(balancer.pick({"", &a}) == 1);
    clock.pass(5000);
    CHECK(countPicks(balancer, 2, 20) == std::vector{20, 0});
    balancer.done(1, 5000_ms, true);
    CHECK(countPicks(balancer, 2, 20) == std::vector{20, 0});
    clock.pass(3001);
    CHECK(countPicks(balancer, 2, 20) == std::vector{19, 1});
}

TEST_CASE("p2c forgets an old time with the weight exp(-passed/600 ms)") {
    struct Row { std::uint64_t b; int picked; };
    // After 600 ms a's 900 ms with 9 ms are 900/e + 9 (1 - 1/e) = 336.8 ms: a load of 19 instead of 31.
    const Row rows[] = {{400_ms, 0}, {300_ms, 1}};  // 21 and 18
    for (const Row& row : rows) {
        BalancerClock clock;
        P2cBalancer balancer(upstreamsOf({1, 1}), BalancerClock::kClock);
        serve(balancer, 2, 0, 900_ms);
        serve(balancer, 2, 1, row.b);
        CHECK(countPicks(balancer, 2, 20) == std::vector{0, 20});
        clock.pass(600);
        serve(balancer, 2, 0, 9_ms);
        CHECK(countPicks(balancer, 2, 20)[static_cast<std::size_t>(row.picked)] == 20);
    }
}

TEST_CASE("p2c counts a failure as 3 s at least, so that one that refuses at once does not draw everything") {
    BalancerClock clock;
    P2cBalancer balancer(upstreamsOf({1, 1}), BalancerClock::kClock);
    serve(balancer, 2, 0, 1000, true);
    serve(balancer, 2, 1, 2000_ms);
    CHECK(balancer.pick(kAnyone) == 1);
}

TEST_CASE("p2c draws any two of those that are not excluded") {
    BalancerClock clock;
    P2cBalancer balancer(upstreamsOf(std::vector<std::uint32_t>(70, 1)), BalancerClock::kClock);
    const std::uint64_t allBut3And64And69[] = {~std::uint64_t{0} - 8, 0b011110};
    std::vector<int> counts(70);
    for (int i = 0; i < 3000; ++i) {
        const int index = balancer.pick({"", allBut3And64And69});
        balancer.done(index, 5_ms, false);
        ++counts[static_cast<std::size_t>(index)];
    }
    CHECK(counts[3] + counts[64] + counts[69] == 3000);
    for (int one : {3, 64, 69}) CHECK(counts[static_cast<std::size_t>(one)] > 700);
}
