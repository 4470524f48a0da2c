#include "load-balancer/shortest_response_balancer.hpp"

#include <cmath>
#include <string>

#include "support/catch.hpp"
#include "unit/plugins/balancer_clock.hpp"

using namespace weir::test;
using weir::balance::ShortestResponseBalancer;

namespace {

// A set of which each upstream has answered once, after so long.
class Answered {
public:
    explicit Answered(const std::vector<std::uint64_t>& latencies, std::vector<weir::Upstream> upstreams = {})
        : balancer_(upstreams.empty() ? upstreamsOf(std::vector<std::uint32_t>(latencies.size(), 50)) : upstreams,
                    BalancerClock::kClock) {
        for (std::size_t i = 0; i < latencies.size(); ++i) {
            const auto index = static_cast<std::size_t>(balancer_.pick(kAnyone));  // each once, as it was never picked
            REQUIRE(index == i);
            balancer_.done(static_cast<int>(index), latencies[index], false);
        }
    }
    ShortestResponseBalancer* operator->() { return &balancer_; }
    ShortestResponseBalancer& operator*() { return balancer_; }

private:
    ShortestResponseBalancer balancer_;
};

}  // namespace

TEST_CASE("shortestResponse takes the least of the average time multiplied by what is in flight") {
    BalancerClock clock;
    Answered balancer({10_ms, 25_ms, 42_ms});
    std::string picks;
    for (int i = 0; i < 6; ++i) picks += static_cast<char>('a' + balancer->pick(kAnyone));
    CHECK(picks == "aabaac");  // a: 10, 20, 30, 40, 50; b: 25, 50; c: 42
    balancer->done(1, 0, false);
    CHECK(balancer->pick(kAnyone) == 1);
}

TEST_CASE("shortestResponse decides between equals by weight, which may still grow") {
    BalancerClock clock;
    auto list = upstreamsOf({100, 100, 50});
    list[1].timestampMs = clock.wallMs;
    list[1].warmupMs = 10000;
    Answered balancer({10_ms, 10_ms, 10_ms}, list);
    struct Row { std::int64_t passMs; double b; };
    const Row rows[] = {{2500, 25 / 175.0}, {2500, 0.25}, {5000, 0.4}};
    for (const Row& row : rows) {
        clock.pass(row.passMs);
        for (int i = 0; i < 3; ++i) balancer->done(balancer->pick(kAnyone), 0, false);  // those that have rested
        const auto counts = countPicks(*balancer, 3, 50000);
        INFO("b got " << counts[1] << ", expected a share of " << row.b);
        CHECK(std::abs(counts[1] / 50000.0 - row.b) < 0.012);  // 5 sigma
        CHECK(std::abs(counts[2] * 2 - counts[0]) < 1500);
    }
}

TEST_CASE("shortestResponse tries one that has rested for more than 3 s, once") {
    BalancerClock clock;
    Answered balancer({10_ms, 900_ms});
    clock.pass(1500);
    CHECK(countPicks(*balancer, 2, 20) == std::vector{20, 0});
    clock.pass(1501);
    CHECK(countPicks(*balancer, 2, 20) == std::vector{19, 1});
}

TEST_CASE("shortestResponse gives a new upstream its share and not everything, until it has answered") {
    BalancerClock clock;
    Answered balancer({10_ms, 10_ms});
    ShortestResponseBalancer grown(upstreamsOf({50, 50, 50}), BalancerClock::kClock);
    CHECK(grown.pick(kAnyone) == 2);
    std::vector<int> counts(3);
    for (int i = 0; i < 29; ++i) ++counts[static_cast<std::size_t>(grown.pick(kAnyone))];
    CHECK(counts == std::vector{10, 10, 9});
    grown.done(2, 100_ms, false);
    for (int i = 0; i < 20; ++i) CHECK(grown.pick(kAnyone) != 2);
}

TEST_CASE("shortestResponse counts a failure as 3 s at least") {
    BalancerClock clock;
    Answered balancer({10_ms, 100_ms});
    CHECK(balancer->pick(kAnyone) == 0);
    clock.pass(600);
    balancer->done(0, 1000, true);
    CHECK(countPicks(*balancer, 2, 20) == std::vector{0, 20});
}
