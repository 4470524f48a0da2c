// Who gets how many requests.
#include <algorithm>
#include <cmath>
#include <memory>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
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
