#include "load-balancer/round_robin_balancer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "support/catch.hpp"
#include "unit/plugins/balancer_clock.hpp"

using weir::balance::RoundRobinBalancer;

namespace {

std::vector<weir::Upstream> weighted(const std::vector<std::uint32_t>& weights) {
    std::vector<weir::Upstream> out;
    for (std::uint32_t weight : weights) out.push_back({.url = "h:" + std::to_string(out.size()), .weight = weight});
    return out;
}

std::string letters(RoundRobinBalancer& balancer, int picks, const std::uint64_t* excluded = nullptr) {
    std::string out;
    for (int i = 0; i < picks; ++i) {
        const int index = balancer.pick({"", excluded});
        out += index < 0 ? '-' : static_cast<char>('a' + index);
    }
    return out;
}

}  // namespace

TEST_CASE("round robin spreads each upstream evenly over its turn, the first of equals first") {
    struct Row { std::vector<std::uint32_t> weights; const char* picks; };
    const Row rows[] = {
        {{1}, "aaa"},
        {{7, 7, 7}, "abcabc"},
        {{5, 1, 1}, "aabacaaaabacaa"},
        {{50, 20, 30}, "acbaacabcaacbaacabca"},
    };
    for (const Row& row : rows) {
        RoundRobinBalancer balancer(weighted(row.weights));
        CHECK(letters(balancer, static_cast<int>(std::string_view(row.picks).size())) == row.picks);
    }
}

TEST_CASE("round robin goes on to the next of its turn when an upstream is excluded") {
    RoundRobinBalancer balancer(weighted({1, 1, 1}));
    const std::uint64_t b = 0b010;
    CHECK(letters(balancer, 6, &b) == "accacc");
    const std::uint64_t all = 0b111;
    CHECK(letters(balancer, 2, &all) == "--");
}

TEST_CASE("round robin keeps the shares of weights whose exact turn would be too long") {
    const std::vector<std::vector<std::uint32_t>> rows = {
        {2147483647, 1073741824, 1}, {1000003, 999983, 3}, {65536, 1}, {4000000000u, 4000000000u}};
    for (const auto& weights : rows) {
        RoundRobinBalancer balancer(weighted(weights));
        std::vector<double> picks(weights.size());
        const int total = 200000;
        for (int i = 0; i < total; ++i) ++picks[static_cast<std::size_t>(balancer.pick({"", nullptr}))];
        const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            INFO(weights[i] << " of " << sum);
            CHECK(std::abs(picks[i] / total - weights[i] / sum) < 1e-4);
            CHECK(picks[i] > 0);
        }
    }
}

TEST_CASE("round robin grows the share of an upstream by stages while it warms up, then turns in its order for good") {
    weir::test::BalancerClock clock;
    auto list = weighted({64, 64});
    list[1].timestampMs = clock.wallMs;
    list[1].warmupMs = 32000;
    RoundRobinBalancer balancer(list, clock.kClock);
    struct Row { std::int64_t passMs; int picks; int b; };  // of `picks`, a whole number of turns
    const Row rows[] = {
        {1, 650, 10},      // the first second, with the weight of its middle: 64 and 1
        {1500, 670, 30},   // the second: 64 and 3
        {14000, 950, 310}, // the sixteenth: 64 and 31
        {16498, 1270, 630},  // the last: 64 and 63
        {1, 1280, 640},
    };
    for (const Row& row : rows) {
        clock.pass(row.passMs);
        CHECK(weir::test::countPicks(balancer, 2, row.picks) == std::vector{row.picks - row.b, row.b});
    }
    clock.pass(-20000);
    CHECK(weir::test::countPicks(balancer, 2, 100) == std::vector{50, 50});
}

TEST_CASE("round robin skips stages that nobody saw, and takes a warm-up that changes no share for none") {
    weir::test::BalancerClock clock;
    auto list = weighted({64, 64});
    list[0].timestampMs = list[1].timestampMs = clock.wallMs;
    list[0].warmupMs = list[1].warmupMs = 32000;
    RoundRobinBalancer balancer(list, clock.kClock);
    CHECK(letters(balancer, 6) == "ababab");
    clock.pass(20000);
    CHECK(letters(balancer, 6) == "ababab");
    clock.pass(100000);
    CHECK(letters(balancer, 6) == "ababab");
}

TEST_CASE("round robin takes warm-ups of any length, and of very many upstreams") {
    weir::test::BalancerClock clock;
    for (const std::int64_t warmupMs : {std::int64_t{1}, std::int64_t{2}, std::int64_t{33}, INT64_MAX}) {
        INFO(warmupMs);
        auto list = weighted({100, 100});
        list[0].timestampMs = clock.wallMs;
        list[0].warmupMs = warmupMs;
        RoundRobinBalancer balancer(list, clock.kClock);
        CHECK(weir::test::countPicks(balancer, 2, 101)[0] > 0);
    }
    auto many = weighted(std::vector<std::uint32_t>(3000, 50));
    for (auto& one : many) one.timestampMs = clock.wallMs - 1000;
    many[7].warmupMs = 60000;
    RoundRobinBalancer balancer(many, clock.kClock);
    const auto counts = weir::test::countPicks(balancer, 3000, 6000);
    CHECK(std::count(counts.begin(), counts.end(), 0) == 0);
}
