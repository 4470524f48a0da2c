#include "load-balancer/round_robin_balancer.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "support/catch.hpp"

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
