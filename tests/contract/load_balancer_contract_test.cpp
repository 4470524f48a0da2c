#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"
#include "weir/describe.h"

// What every load balancer must do, run against each one of each module in WEIR_TEST_MODULES (names separated by
// blanks).

namespace {

using weir::test::FakeError;
using weir::test::LoadedModule;

struct Candidate {
    const weir_load_balancer* table;
    std::string key;
    bool weighted;
    bool sticky;
};

void addCandidates(const std::string& module, std::vector<Candidate>& out) {
    const LoadedModule loaded(module);
    std::string text;
    static_cast<const weir_describe*>(loaded.find(WEIR_INTERFACE_DESCRIBE))
        ->provides(
            [](void* to, const char* piece, std::size_t size) { static_cast<std::string*>(to)->append(piece, size); },
            &text);
    const auto described = weir::base::parseJson(text);
    const auto& list = *static_cast<const weir_load_balancer_list*>(loaded.find(WEIR_INTERFACE_LOAD_BALANCER));
    for (std::uint32_t i = 0; i < list.count; ++i) {
        const std::string key = weir::test::text(list.items[i]->key);
        for (const auto& one : described.value().items()) {
            if (one.find("interface")->text() != "LoadBalancer" || one.find("key")->text() != key) continue;
            out.push_back({list.items[i], key, *one.find("weighted")->toBool(), *one.find("sticky")->toBool()});
        }
    }
}

const std::vector<Candidate>& candidates() {
    static const std::vector<Candidate> all = [] {
        std::vector<Candidate> out;
        std::string names = WEIR_TEST_MODULES;
        for (std::size_t end; !names.empty(); names.erase(0, end + (end < names.size()))) {
            end = std::min(names.find(' '), names.size());
            addCandidates(names.substr(0, end), out);
        }
        return out;
    }();
    return all;
}

// The state of a balancer over upstreams of these weights.
class Balancer {
public:
    Balancer(const Candidate& candidate, const std::vector<std::uint32_t>& weights) : table_(*candidate.table) {
        std::vector<std::string> urls;
        for (std::size_t i = 0; i < weights.size(); ++i) urls.push_back("10.0.0." + std::to_string(i + 1) + ":80");
        std::vector<weir_upstream> set;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            set.push_back({sizeof(weir_upstream), weights[i], weir::test::str("http://"), weir::test::str(urls[i]), 1,
                           0, 0, 0});
        }
        FakeError error;
        REQUIRE(table_.create(&weir::test::fakeHost(), set.data(), set.size(), &state_, error.raw()) == WEIR_OK);
        // `urls` and `set` end here: a balancer must have copied what it keeps.
    }
    Balancer(const Balancer&) = delete;
    ~Balancer() { table_.destroy(state_); }

    int pick(std::string_view client, const std::uint64_t* excluded = nullptr) {
        const weir_pick request{sizeof request, 0, weir::test::str(client), excluded};
        return table_.pick(state_, &request);
    }
    void done(int index) {
        if (table_.done) table_.done(state_, index, 1000, 0);
    }

private:
    const weir_load_balancer& table_;
    void* state_ = nullptr;
};

std::string client(int number) {
    return "192.168." + std::to_string(number / 250) + "." + std::to_string(number % 250);
}

std::vector<int> count(Balancer& balancer, std::size_t upstreams, int picks) {
    std::vector<int> out(upstreams);
    for (int i = 0; i < picks; ++i) {
        const int index = balancer.pick(client(i));
        REQUIRE(index >= 0);
        REQUIRE(index < static_cast<int>(upstreams));
        balancer.done(index);
        ++out[static_cast<std::size_t>(index)];
    }
    return out;
}

const std::vector<std::uint32_t> kWeights = {50, 20, 30};

}  // namespace

TEST_CASE("the modules under test provide the balancers of this issue") {
    std::vector<std::string> keys;
    for (const Candidate& one : candidates()) keys.push_back(one.key);
    CHECK(keys == std::vector<std::string>{"random", "roundRobin", "hash"});
}

TEST_CASE("a single upstream is always picked") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        for (std::uint32_t weight : {1u, 50u, 2147483647u}) {
            Balancer balancer(one, {weight});
            CHECK(count(balancer, 1, 100)[0] == 100);
        }
    }
}

TEST_CASE("a weighted balancer picks in proportion to weight") {
    const int picks = 20000;
    for (const Candidate& one : candidates()) {
        if (!one.weighted) continue;
        INFO(one.key);
        Balancer balancer(one, kWeights);
        const std::vector<int> counts = count(balancer, 3, picks);
        for (std::size_t i = 0; i < 3; ++i) {
            const double share = kWeights[i] / 100.0;
            const double sigma = std::sqrt(picks * share * (1 - share));
            INFO("upstream " << i << ": " << counts[i]);
            // Chance alone exceeds 3 sigma in one run of a hundred, 5 in one of half a million.
            CHECK(std::abs(counts[i] - picks * share) < 5 * sigma);
        }
    }
}

TEST_CASE("an unweighted balancer uses every upstream") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        Balancer balancer(one, {1, 1, 1, 1});
        for (int picked : count(balancer, 4, 2000)) CHECK(picked > 0);
    }
}

TEST_CASE("roundRobin is exact in every hundred, wherever the hundred begins") {
    for (const Candidate& one : candidates()) {
        if (one.key != "roundRobin") continue;
        Balancer balancer(one, kWeights);
        for (int start = 0; start < 10; ++start) {
            CHECK(count(balancer, 3, 100) == std::vector<int>{50, 20, 30});
            balancer.pick("");
        }
    }
}

TEST_CASE("a sticky balancer keeps a client on its upstream while the set stays") {
    for (const Candidate& one : candidates()) {
        if (!one.sticky) continue;
        INFO(one.key);
        Balancer balancer(one, kWeights);
        Balancer twin(one, kWeights);  // the same set, made again: after a reload, or in another gateway
        for (int i = 0; i < 500; ++i) {
            const int first = balancer.pick(client(i));
            CHECK(balancer.pick(client(i)) == first);
            CHECK(twin.pick(client(i)) == first);
        }
    }
}

TEST_CASE("an excluded upstream is not picked, and with all excluded none is") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        Balancer balancer(one, kWeights);
        for (std::uint64_t excluded = 0; excluded < 8; ++excluded) {
            INFO("excluded " << excluded);
            for (int i = 0; i < 300; ++i) {
                const int index = balancer.pick(client(i), &excluded);
                if (excluded == 7) {
                    REQUIRE(index == -1);
                } else {
                    REQUIRE(index >= 0);
                    REQUIRE((excluded >> index & 1) == 0);
                }
            }
        }
    }
}

TEST_CASE("exclusion reads past the first word of its bits") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        Balancer balancer(one, std::vector<std::uint32_t>(130, 1));
        const std::uint64_t allBut129[] = {~std::uint64_t{0}, ~std::uint64_t{0}, 1};
        for (int i = 0; i < 300; ++i) REQUIRE(balancer.pick(client(i), allBut129) == 129);
    }
}

TEST_CASE("four threads pick at once and the shares stay right") {
    const int each = 25000;
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        Balancer balancer(one, kWeights);
        std::vector<std::vector<int>> counts(4, std::vector<int>(4));  // the last counts what is no index
        std::vector<std::thread> threads;
        for (std::vector<int>& mine : counts) {
            threads.emplace_back([&balancer, &mine] {
                for (int i = 0; i < each; ++i) {
                    const int index = balancer.pick(client(i));
                    ++mine[index >= 0 && index < 3 ? static_cast<std::size_t>(index) : 3];
                    if (index >= 0) balancer.done(index);
                }
            });
        }
        for (std::thread& thread : threads) thread.join();

        std::vector<int> sum(4);
        for (const auto& mine : counts) {
            for (std::size_t i = 0; i < 4; ++i) sum[i] += mine[i];
        }
        CHECK(sum[3] == 0);
        for (std::size_t i = 0; i < 3; ++i) {
            INFO("upstream " << i << ": " << sum[i]);
            if (one.key == "roundRobin") CHECK(sum[i] == 4 * each / 100 * static_cast<int>(kWeights[i]));
            if (one.weighted) CHECK(std::abs(sum[i] / (4.0 * each) - kWeights[i] / 100.0) < 0.01);
            if (one.sticky) CHECK(counts[0][i] * 4 == sum[i]);
        }
    }
}
