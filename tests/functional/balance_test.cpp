// Who gets how many requests.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "functional/local_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

constexpr int kWeights[] = {50, 20, 30};

// Three upstreams of these weights behind a gateway.
struct Cluster {
    explicit Cluster(const std::string& loadBalance, const std::vector<std::string>& arguments = {}) {
        ProxyConfig config;
        config.loadBalance = loadBalance;
        for (int weight : kWeights) {
            upstreams.push_back(std::make_unique<RecordingUpstream>());
            config.upstreams.push_back({upstreams.back()->address(), weight});
        }
        gateway = std::make_unique<GatewayProcess>(config.yaml(), arguments);
    }

    // Spread over that many client connections, one request at a time.
    std::vector<int> served(int requests, int connections) {
        std::vector<RawClient> clients;
        for (int i = 0; i < connections; ++i) clients.emplace_back(gateway->port());
        for (int i = 0; i < requests; ++i) {
            auto& client = clients[static_cast<std::size_t>(i % connections)];
            CHECK(client.exchange("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200);
        }
        std::vector<int> counts;
        for (auto& upstream : upstreams) counts.push_back(static_cast<int>(upstream->requests().size()));
        return counts;
    }

    std::vector<std::unique_ptr<RecordingUpstream>> upstreams;
    std::unique_ptr<GatewayProcess> gateway;
};

constexpr const char* kRequest = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr const char* kBalancers[] = {"random", "roundRobin", "hash", "leastActive", "p2c", "shortestResponse"};

// A gateway whose upstreams, a to c, and balancer are set by calls while it runs.
struct Called {
    Called() : gateway(onlyDivide()), caller(gateway) {}

    // As divide's selector handle has it; `more` are members, with a comma in front.
    std::string upstream(std::size_t index, const std::string& more) const {
        return R"({"upstreamUrl":")" + servers[index].address() + '"' + more + "}";
    }
    void set(const std::string& balancer, const std::string& list) const {
        caller.selector(Entry{"s", {uri("match", "/**")}, "[" + list + "]"}.selector());
        const std::string handle = R"({"timeout":30000,"loadBalance":")" + balancer + "\"}";
        caller.rule(Entry{"r", {uri("match", "/**")}, handle}.rule("s"));
    }
    // Who answers, one request after the other.
    std::string answers(int requests) const {
        std::string names;
        RawClient client(gateway.port());
        for (int i = 0; i < requests; ++i) names += client.exchange(kRequest).body;
        return names;
    }

    RecordingUpstream servers[3] = {RecordingUpstream(named("a")), RecordingUpstream(named("b")),
                                    RecordingUpstream(named("c"))};
    GatewayProcess gateway;
    LocalCaller caller;
};

std::vector<int> counted(const std::string& names) {
    std::vector<int> counts;
    for (char name : {'a', 'b', 'c'}) counts.push_back(static_cast<int>(std::count(names.begin(), names.end(), name)));
    return counts;
}

}  // namespace

TEST_CASE("roundRobin shares exactly by weight") {
    CHECK(Cluster("roundRobin").served(100, 1) == std::vector{50, 20, 30});
}

TEST_CASE("roundRobin shares exactly by weight over all event loops together") {
    CHECK(Cluster("roundRobin", {"--server.threads=2"}).served(100, 20) == std::vector{50, 20, 30});
}

TEST_CASE("random shares by weight within chance") {
    constexpr int kRequests = 1000;
    auto counts = Cluster("random").served(kRequests, 1);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        double share = kWeights[i] / 100.0;
        double sigma = std::sqrt(kRequests * share * (1 - share));
        INFO("upstream " << i << " got " << counts[i]);
        CHECK(std::abs(counts[i] - kRequests * share) < 5 * sigma);  // wrong once in a million runs
    }
}

TEST_CASE("hash keeps one client on one upstream") {
    auto counts = Cluster("hash").served(50, 10);
    std::sort(counts.begin(), counts.end());
    CHECK(counts == std::vector{0, 0, 50});
}

TEST_CASE("an upstream of weight 0 or status false gets nothing from any balancer, and such ones alone are -119") {
    const Called scene;
    const std::string good = scene.upstream(1, "");
    for (const char* balancer : kBalancers) {
        for (const char* out : {R"(,"weight":0)", R"(,"status":false)", R"(,"weight":0,"status":false)"}) {
            INFO(balancer << ' ' << out);
            scene.set(balancer, scene.upstream(0, out) + "," + good);
            CHECK(scene.answers(10) == "bbbbbbbbbb");
            scene.set(balancer, good + "," + scene.upstream(0, out));
            CHECK(scene.answers(10) == "bbbbbbbbbb");
            scene.set(balancer, scene.upstream(0, out));
            const HttpMessage none = RawClient(scene.gateway.port()).exchange(kRequest);
            CHECK(none.status() == 503);
            CHECK(errorCode(none) == "-119");
        }
    }
}

TEST_CASE("roundRobin is exact over eight connections, and at once by the new weights when they change") {
    const Called scene;
    const auto weigh = [&scene](int a, int b, int c) {
        const auto one = [&scene](std::size_t index, int weight) {
            return scene.upstream(index, ",\"weight\":" + std::to_string(weight));
        };
        scene.set("roundRobin", one(0, a) + "," + one(1, b) + "," + one(2, c));
    };
    std::vector<RawClient> clients;
    for (int i = 0; i < 8; ++i) clients.emplace_back(scene.gateway.port());
    const auto next = [&](std::size_t requests) {
        std::string names;
        for (std::size_t i = 0; i < requests; ++i) names += clients[i % clients.size()].exchange(kRequest).body;
        return counted(names);
    };
    weigh(50, 20, 30);
    CHECK(next(1000) == std::vector{500, 200, 300});
    next(37);  // in the middle of a turn
    weigh(10, 80, 10);
    CHECK(next(100) == std::vector{10, 80, 10});
}

TEST_CASE("roundRobin gives an upstream that has begun its warm-up one request in a hundred") {
    using namespace std::chrono;
    const std::int64_t nowMs = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    const Called scene;
    const std::string begun = R"(,"weight":100,"warmup":7200000,"timestamp":)" + std::to_string(nowMs - 1000);
    scene.set("roundRobin", scene.upstream(0, R"(,"weight":100)") + "," + scene.upstream(1, begun));
    CHECK(counted(scene.answers(101)) == std::vector{100, 1, 0});
}

TEST_CASE("a balancer that counts sends no request to an upstream that still owes an answer, until it has come") {
    for (const char* balancer : {"leastActive", "p2c", "shortestResponse"}) {
        INFO(balancer);
        Gate gate;
        const RecordingUpstream slow([&gate](RecordingUpstream::Connection& connection) {
            while (connection.next()) {
                if (!gate.wait()) return;
                connection.send(RecordingUpstream::ok("slow"));
            }
        });
        const Called scene;
        const std::string owing = R"({"upstreamUrl":")" + slow.address() + "\"}";
        scene.set(balancer, owing);
        std::vector<RawClient> waiting;  // enough to outweigh a slow machine's time for one answer
        for (int i = 0; i < 20; ++i) waiting.emplace_back(scene.gateway.port()).send(kRequest);
        REQUIRE(slow.waitForRequests(20));
        scene.set(balancer, owing + "," + scene.upstream(1, ""));  // what is in flight stays known
        CHECK(scene.answers(20) == std::string(20, 'b'));
        gate.open();
        for (RawClient& one : waiting) CHECK(one.response().body == "slow");
        if (balancer == std::string("leastActive")) CHECK(eventually([&] { return scene.answers(1) == "slow"; }));
    }
}
