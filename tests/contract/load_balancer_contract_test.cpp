#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"
#include "weir/describe.h"

// What every load balancer must do, run against each one of a module, its checks chosen by the traits that the manifest
// claims. The module is load-balancer.so, or the one that WEIR_TEST_MODULE names with its path.

namespace {

using weir::test::FakeError;
using weir::test::LoadedModule;

struct Candidate {
    const weir_load_balancer* table;
    std::string key;
    bool weighted;
    bool sticky;
};

std::vector<Candidate> read(const std::filesystem::path& file) {
    const LoadedModule loaded(file.stem().string(), file.parent_path().string());
    std::string text;
    static_cast<const weir_describe*>(loaded.find(WEIR_INTERFACE_DESCRIBE))
        ->provides(
            [](void* to, const char* piece, std::size_t size) { static_cast<std::string*>(to)->append(piece, size); },
            &text);
    const auto described = weir::base::parseJson(text);
    const auto* list = static_cast<const weir_load_balancer_list*>(loaded.find(WEIR_INTERFACE_LOAD_BALANCER));
    if (!list || list->count == 0) throw std::runtime_error(file.string() + " provides no load balancer");
    std::vector<Candidate> out;
    for (std::uint32_t i = 0; i < list->count; ++i) {
        const std::string key = weir::test::text(list->items[i]->key);
        for (const auto& one : described.value().items()) {
            if (one.find("interface")->text() != "LoadBalancer" || one.find("key")->text() != key) continue;
            out.push_back({list->items[i], key, *one.find("weighted")->toBool(), *one.find("sticky")->toBool()});
        }
    }
    return out;
}

const std::vector<Candidate>& candidates() {
    const char* named = std::getenv("WEIR_TEST_MODULE");
    static const std::vector<Candidate> all = read(named ? named : WEIR_TEST_PLUGINS "/load-balancer.so");
    return all;
}

struct Server {
    std::uint32_t weight = 1;
    std::int64_t timestampMs = 0;
    std::int64_t warmupMs = 0;
    std::string url = {};  // empty: by its place
};

// The state of a balancer over these upstreams.
class Balancer {
public:
    Balancer(const Candidate& candidate, std::vector<Server> list) : table_(*candidate.table) {
        std::vector<weir_upstream> set;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].url.empty()) list[i].url = "10.0.0." + std::to_string(i + 1) + ":80";
            set.push_back({sizeof(weir_upstream), list[i].weight, weir::test::str("http://"),
                           weir::test::str(list[i].url), 1, 0, list[i].timestampMs, list[i].warmupMs});
        }
        FakeError error;
        REQUIRE(table_.create(&weir::test::fakeHost(), set.data(), set.size(), &state_, error.raw()) == WEIR_OK);
        // `list` and `set` end here: a balancer must have copied what it keeps.
    }
    Balancer(const Balancer&) = delete;
    ~Balancer() { table_.destroy(state_); }

    int pick(std::string_view client, const std::uint64_t* excluded = nullptr) {
        const weir_pick request{sizeof request, 0, weir::test::str(client), excluded};
        return table_.pick(state_, &request);
    }
    void done(int index, std::uint64_t latencyNs = 1000) {
        if (table_.done) table_.done(state_, index, latencyNs, 0);
    }
    // One request, from the pick to its answer.
    int serve(std::string_view client, const std::uint64_t* excluded = nullptr) {
        const int index = pick(client, excluded);
        if (index >= 0) done(index);
        return index;
    }

private:
    const weir_load_balancer& table_;
    void* state_ = nullptr;
};

std::string client(int number) {
    return "192.168." + std::to_string(number / 250) + "." + std::to_string(number % 250);
}

using Counts = std::vector<int>;

Counts count(Balancer& balancer, std::size_t upstreams, int picks) {
    Counts out(upstreams);
    for (int i = 0; i < picks; ++i) {
        const int index = balancer.serve(client(i));
        REQUIRE(index >= 0);
        REQUIRE(index < static_cast<int>(upstreams));
        ++out[static_cast<std::size_t>(index)];
    }
    return out;
}

bool withinThreeSigma(const Counts& counts, const std::vector<double>& shares) {
    int picks = 0;
    for (int one : counts) picks += one;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        UNSCOPED_INFO("upstream " << i << ": " << counts[i] << " of " << picks);
        if (std::abs(counts[i] - picks * shares[i]) > 3 * std::sqrt(picks * shares[i] * (1 - shares[i]))) return false;
    }
    return true;
}

// Chance alone leaves 3 sigma once in a hundred times, and three times in a row once in a million.
template <class Draw>
bool sharedBy(const std::vector<double>& shares, Draw draw) {
    return withinThreeSigma(draw(), shares) || withinThreeSigma(draw(), shares) || withinThreeSigma(draw(), shares);
}

// Each got at least a quarter of what would be even.
bool nobodyStarved(const Counts& counts) {
    int picks = 0;
    for (int one : counts) picks += one;
    return std::all_of(counts.begin(), counts.end(),
                       [&](int one) { return one * 4 * static_cast<int>(counts.size()) >= picks; });
}

const std::vector<Server> kServers = {{50}, {20}, {30}};
const std::vector<double> kShares = {0.5, 0.2, 0.3};
constexpr int kPicks = 20000;

// Whether what `draw` counts over kServers is what the traits promise. A sticky one spreads clients, which are few.
template <class Draw>
bool sharedAsPromised(const Candidate& one, Draw draw) {
    return one.weighted ? sharedBy(kShares, draw) : nobodyStarved(draw()) || one.sticky;
}

}  // namespace

TEST_CASE("a single upstream is always picked") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        for (std::uint32_t weight : {1u, 50u, 2147483647u}) {
            Balancer balancer(one, {{weight}});
            CHECK(count(balancer, 1, 100)[0] == 100);
        }
    }
}

TEST_CASE("a weighted balancer picks in proportion to weight") {
    for (const Candidate& one : candidates()) {
        if (!one.weighted) continue;
        INFO(one.key);
        Balancer balancer(one, kServers);
        CHECK(sharedBy(kShares, [&] { return count(balancer, 3, kPicks); }));
    }
}

TEST_CASE("a weighted balancer gives an upstream that is half through its warm-up half of its weight") {
    using namespace std::chrono;
    const std::int64_t hour = milliseconds(hours(1)).count();
    const std::int64_t nowMs = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    for (const Candidate& one : candidates()) {
        if (!one.weighted) continue;
        INFO(one.key);
        Balancer balancer(one, {{100}, {100, nowMs - hour, 2 * hour}});
        CHECK(sharedBy({2 / 3.0, 1 / 3.0}, [&] { return count(balancer, 2, kPicks); }));
        Balancer warm(one, {{100}, {100, nowMs - 2 * hour, hour}});
        CHECK(sharedBy({0.5, 0.5}, [&] { return count(warm, 2, kPicks); }));
    }
}

TEST_CASE("a balancer that is neither weighted nor sticky starves nobody") {
    for (const Candidate& one : candidates()) {
        if (one.weighted || one.sticky) continue;
        INFO(one.key);
        Balancer balancer(one, kServers);
        CHECK(nobodyStarved(count(balancer, 3, kPicks)));
    }
}

TEST_CASE("with equal weights every upstream is used") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        Balancer balancer(one, std::vector<Server>(4));
        for (int picked : count(balancer, 4, 2000)) CHECK(picked > 0);
    }
}

TEST_CASE("roundRobin is exact in every hundred, wherever the hundred begins") {
    for (const Candidate& one : candidates()) {
        if (one.key != "roundRobin" || !one.weighted) continue;
        Balancer balancer(one, kServers);
        for (int start = 0; start < 10; ++start) {
            CHECK(count(balancer, 3, 100) == Counts{50, 20, 30});
            balancer.serve("");
        }
    }
}

TEST_CASE("a sticky balancer keeps a client on its upstream while the set stays") {
    for (const Candidate& one : candidates()) {
        if (!one.sticky) continue;
        INFO(one.key);
        Balancer balancer(one, kServers);
        Balancer twin(one, kServers);  // the same set, made again: after a reload, or in another gateway
        for (int i = 0; i < 500; ++i) {
            const int first = balancer.serve(client(i));
            CHECK(balancer.serve(client(i)) == first);
            CHECK(twin.serve(client(i)) == first);
        }
    }
}

TEST_CASE("a sticky balancer moves few clients but those of an upstream that leaves or is excluded") {
    const std::vector<Server> five = {{1, 0, 0, "a:1"}, {1, 0, 0, "b:1"}, {1, 0, 0, "c:1"}, {1, 0, 0, "d:1"},
                                      {1, 0, 0, "e:1"}};
    const std::vector<Server> four = {five[0], five[1], five[3], five[4]};
    for (const Candidate& one : candidates()) {
        if (!one.sticky) continue;
        INFO(one.key);
        Balancer before(one, five);
        Balancer after(one, four);
        const std::uint64_t excluded = 0b00100;
        int kept = 0, movedByLeaving = 0, movedByExclusion = 0;
        for (int i = 0; i < 1000; ++i) {
            const int index = before.serve(client(i));
            if (index == 2) continue;
            ++kept;
            movedByLeaving += after.serve(client(i)) != (index < 2 ? index : index - 1);
            movedByExclusion += before.serve(client(i), &excluded) != index;
        }
        CHECK(kept > 0);
        CHECK(movedByLeaving * 20 <= kept);
        CHECK(movedByExclusion * 20 <= kept);
    }
}

TEST_CASE("an excluded upstream is not picked, and with all excluded none is") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        Balancer balancer(one, kServers);
        for (std::uint64_t excluded = 0; excluded < 8; ++excluded) {
            INFO("excluded " << excluded);
            for (int i = 0; i < 300; ++i) {
                const int index = balancer.serve(client(i), &excluded);
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
        Balancer balancer(one, std::vector<Server>(130));
        const std::uint64_t allBut129[] = {~std::uint64_t{0}, ~std::uint64_t{0}, 1};
        for (int i = 0; i < 300; ++i) REQUIRE(balancer.serve(client(i), allBut129) == 129);
    }
}

TEST_CASE("done takes back what pick counted: an upstream that served a lot is no worse and no better for it") {
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        for (std::uint64_t latencyNs : {1000, 0}) {  // 0: the pick was not carried out
            INFO("latency " << latencyNs);
            const auto afterALot = [&] {
                Balancer balancer(one, kServers);
                const std::uint64_t allBut0 = 0b110;
                for (int i = 0; i < kPicks; ++i) balancer.done(balancer.pick(client(i), &allBut0), latencyNs);
                return count(balancer, 3, kPicks);
            };
            CHECK(sharedAsPromised(one, afterALot));
        }
    }
}

TEST_CASE("four threads pick at once and the shares are right, then and afterwards") {
    constexpr int kEach = 25000;
    for (const Candidate& one : candidates()) {
        INFO(one.key);
        Balancer balancer(one, kServers);
        const auto together = [&] {
            std::vector<Counts> counts(4, Counts(4));  // by thread; the last counts what is no index
            std::vector<std::thread> threads;
            for (Counts& mine : counts) {
                threads.emplace_back([&balancer, &mine] {
                    for (int i = 0; i < kEach; ++i) {
                        const int index = balancer.serve(client(i));
                        ++mine[index >= 0 && index < 3 ? static_cast<std::size_t>(index) : 3];
                    }
                });
            }
            for (std::thread& thread : threads) thread.join();
            Counts sum(3);
            for (const Counts& mine : counts) {
                CHECK(mine[3] == 0);
                for (std::size_t i = 0; i < 3; ++i) sum[i] += mine[i];
                if (one.sticky) CHECK(mine == counts[0]);
            }
            return sum;
        };
        const Counts sum = together();
        if (one.weighted && one.key == "roundRobin") CHECK(sum == Counts{2 * kEach, 4 * kEach / 5, 6 * kEach / 5});
        // One that counts requests rightly avoids the upstream whose thread the system has put aside meanwhile.
        if (one.weighted && !one.table->done) CHECK(sharedBy(kShares, together));
        CHECK(sharedAsPromised(one, [&] { return count(balancer, 3, kPicks); }));
    }
}
