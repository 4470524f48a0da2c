// Which calls are repeated when an upstream fails, where to, and what the client gets when all of them have failed.
#include <algorithm>
#include <memory>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/request_load.hpp"

using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

const std::string kGet = "GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n";

std::string withBody(const std::string& method, const std::string& body) {
    return method + " /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

// Takes each request and breaks the connection off.
void reset(RecordingUpstream::Connection& connection) {
    connection.next();
    connection.resetOnClose();
}
// Takes a request and waits for the gateway to give up.
void keepSilent(RecordingUpstream::Connection& connection) {
    connection.next();
    connection.next();
}
RecordingUpstream::Serve answer(const std::string& statusLine) {
    return [statusLine](RecordingUpstream::Connection& connection) {
        while (connection.next()) connection.send("HTTP/1.1 " + statusLine + "\r\nContent-Length: 0\r\n\r\n");
    };
}

std::string refusing() { return "127.0.0.1:" + std::to_string(unusedPort()); }

std::string failoverTo(const std::vector<std::string>& addresses, int retry = 3) {
    ProxyConfig config;
    for (const std::string& address : addresses) config.upstreams.push_back({address});
    config.retryStrategy = "failover";
    config.retry = retry;
    return config.yaml();
}

}  // namespace

TEST_CASE("a request is sent once when it may have taken effect or was answered (C04)") {
    struct Row {
        const char* name;
        RecordingUpstream::Serve serve;
        std::string request;
        int status;
    };
    const Row rows[] = {
        {"500 to POST", answer("500 Oops"), withBody("POST", "x"), 500},
        {"503 to GET", answer("503 Busy"), kGet, 503},
        {"404 to GET", answer("404 Gone"), kGet, 404},
        {"no answer to POST", keepSilent, withBody("POST", "x"), 504},
        {"POST without a body", keepSilent, withBody("POST", ""), 504},
        {"POST broken off", reset, withBody("POST", "x"), 502},
        {"PATCH broken off", reset, withBody("PATCH", "x"), 502},
    };
    for (const std::string strategy : {"current", "failover"}) {
        for (const Row& row : rows) {
            INFO(row.name << ", " << strategy);
            RecordingUpstream one(row.serve);
            RecordingUpstream other(row.serve);
            ProxyConfig config;
            config.upstreams = {{one.address()}, {other.address()}};
            config.retryStrategy = strategy;
            config.timeoutMs = 200;
            GatewayProcess gateway(config.yaml());
            CHECK(RawClient(gateway.port()).exchange(row.request).status() == row.status);
            CHECK(one.requests().size() + other.requests().size() == 1);
        }
    }
}

TEST_CASE("with the strategy current a GET that fails is sent again as often as the rule says, then the last error is "
          "the answer") {
    struct Row {
        const char* name;
        RecordingUpstream::Serve serve;
        std::vector<std::string> arguments;
        int status;
        const char* code;
    };
    const Row rows[] = {
        {"broken off", reset, {}, 502, "-103"},
        {"no answer in time", keepSilent, {}, 504, "-104"},
        {"broken off, ShenYu's status", reset, {"--compat.errorStatus=shenyu"}, 500, "-103"},
        {"no answer in time, ShenYu's status", keepSilent, {"--compat.errorStatus=shenyu"}, 408, "-104"},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        RecordingUpstream upstream(row.serve);
        ProxyConfig config;
        config.upstreams = {{upstream.address()}};
        config.timeoutMs = 300;
        config.retry = 2;
        GatewayProcess gateway(config.yaml(), row.arguments);
        const auto got = get(gateway.port(), "/http/a");
        CHECK(got.status() == row.status);
        CHECK_THAT(got.body, Contains("\"code\":" + std::string(row.code)));
        CHECK(upstream.requests().size() == 3);
        const std::string line = gateway.process().waitForLine("GET /http/a (request ");
        CHECK_THAT(line, Catch::EndsWith("calls made: 3"));
    }
}

TEST_CASE("with the strategy failover a refused request goes to another upstream whatever its method") {
    RecordingUpstream upstream;
    GatewayProcess gateway(failoverTo({refusing(), upstream.address(), refusing()}));
    RawClient client(gateway.port());
    for (int i = 0; i < 12; ++i) CHECK(client.exchange(withBody("POST", "body")).status() == 200);
    REQUIRE(upstream.requests().size() == 12);
    for (const auto& request : upstream.requests()) CHECK(request.body == "body");
}

TEST_CASE("a PUT that was sent and failed is sent again when its body was kept") {
    struct Row {
        const char* name;
        std::size_t size;
        bool behindHead;
        std::vector<std::string> arguments;
        bool kept;
    };
    const Row rows[] = {
        {"the body came with the head", 10, false, {"--upstream.replayBodyBytes=0"}, true},
        {"the body came later", 10, true, {}, true},
        {"as long as may be kept", 65536, true, {}, true},
        {"longer", 65537, true, {}, false},
        {"nothing is kept", 10, true, {"--upstream.replayBodyBytes=0"}, false},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        RecordingUpstream broken(reset);
        RecordingUpstream sound;
        GatewayProcess gateway(failoverTo({broken.address(), sound.address()}), row.arguments);
        const std::string body(row.size, 'b');
        const std::string whole = withBody("PUT", body);
        std::vector<int> statuses;
        for (int i = 0; i < 2; ++i) {  // the broken one is the first of one of them at least
            RawClient client(gateway.port());
            if (row.behindHead) {
                const std::size_t before = broken.connections() + sound.connections();
                client.send(whole.substr(0, whole.size() - body.size()));
                REQUIRE(eventually([&] { return broken.connections() + sound.connections() > before; }));
                client.send(body);
                statuses.push_back(client.response().status());
            } else {
                statuses.push_back(client.exchange(whole).status());
            }
        }
        std::sort(statuses.begin(), statuses.end());
        CHECK(statuses == std::vector<int>{200, row.kept ? 200 : 502});
        CHECK_FALSE(broken.requests().empty());
        REQUIRE(sound.requests().size() == (row.kept ? 2 : 1));
        for (const auto& request : sound.requests()) CHECK(request.body == body);
    }
}

TEST_CASE("the access log names the upstream that answered after a failover, and the rule that led there") {
    RecordingUpstream upstream;
    GatewayProcess gateway(failoverTo({refusing(), upstream.address()}), {"--accessLog.format=json"});
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    const auto count = [&gateway](const std::string& text) {
        const std::string output = gateway.process().output();
        int found = 0;
        for (std::size_t at = 0; (at = output.find(text, at)) != output.npos; ++at) ++found;
        return found;
    };
    CHECK(eventually([&] { return count("\"upstream\":\"" + upstream.address() + "\"") == 2; }));
    CHECK(count("\"rule\":\"divide/orders/all\"") == 2);
}

TEST_CASE("with the strategy failover and no upstream left the answer is 503 with ShenYu's code and a log line") {
    GatewayProcess gateway(failoverTo({refusing(), refusing()}));
    const auto got = get(gateway.port(), "/http/a");
    CHECK(got.status() == 503);
    CHECK(got.body == R"({"code":-121,"message":"Can not find healthy upstream url after failover!"})");
    CHECK_THAT(gateway.process().waitForLine("GET /http/a (request "),
               Contains("no connection to the upstream, no other upstream is left; calls made: 2"));
}

TEST_CASE("when the repeats of failover are used up the last error is the answer") {
    RecordingUpstream one(reset);
    RecordingUpstream other(reset);
    GatewayProcess gateway(failoverTo({one.address(), other.address()}, 1));
    CHECK(get(gateway.port(), "/http/a").status() == 502);
    CHECK(one.requests().size() == 1);
    CHECK(other.requests().size() == 1);
}

TEST_CASE("more than the budget are not repeated at one time; what waits for a place in vain gets its own error") {
    RecordingUpstream upstream(keepSilent);
    ProxyConfig config;
    config.upstreams = {{upstream.address()}};
    config.timeoutMs = 400;
    config.retry = 1;
    GatewayProcess gateway(config.yaml(), {"--upstream.retryBudget.percent=0", "--upstream.retryBudget.minConcurrent=1",
                                           "--upstream.ejection.failures=0"});
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_unique<RawClient>(gateway.port()));
        clients.back()->send(kGet);
    }
    for (auto& client : clients) CHECK(client->response().status() == 504);
    // One repeat lasts as long as a call may, and none begins later than twice that after the first failed.
    CHECK(upstream.requests().size() >= 9);
    CHECK(upstream.requests().size() <= 11);
}

TEST_CASE("under load requests that can be repeated get past an upstream that does not answer") {
    RecordingUpstream slow(keepSilent);
    RecordingUpstream sound;
    ProxyConfig config;
    config.upstreams = {{slow.address()}, {sound.address()}};
    config.retryStrategy = "failover";
    config.timeoutMs = 200;
    GatewayProcess gateway(config.yaml(), {"--upstream.ejection.base=60s"});
    RequestLoad reads(gateway.port(), kGet, 4);
    RequestLoad writes(gateway.port(), withBody("POST", "x"), 1);
    REQUIRE(eventually([&] { return gateway.process().output().find("left out for 60000 ms") != std::string::npos; }));
    REQUIRE(reads.waitForRound());
    const std::size_t asked = slow.requests().size();
    for (int round = 0; round < 10; ++round) REQUIRE(reads.waitForRound());
    reads.stop();
    writes.stop();
    CHECK(slow.requests().size() == asked);
    CHECK(reads.failures() == std::vector<std::string>{});
    for (const std::string& failure : writes.failures()) CHECK_THAT(failure, Catch::StartsWith("HTTP/1.1 504"));
}

TEST_CASE("under load only requests that can not be repeated fail when an upstream is killed and comes back") {
    RecordingUpstream first;
    RecordingUpstream second;
    auto flapping = std::make_unique<RecordingUpstream>();
    const int port = flapping->port();
    GatewayProcess gateway(failoverTo({first.address(), flapping->address(), second.address()}),
                           {"--upstream.ejection.base=200ms", "--upstream.ejection.max=400ms"});
    RequestLoad reads(gateway.port(), kGet, 6);
    RequestLoad writes(gateway.port(), withBody("POST", "x"), 2);
    REQUIRE(reads.waitForRound());
    const std::size_t descriptors = gateway.descriptors();
    std::size_t resident = 0;
    for (int i = 0; i < 6; ++i) {
        INFO("round " << i);
        REQUIRE(reads.waitForRound());
        flapping.reset();
        for (int round = 0; round < 10; ++round) REQUIRE(reads.waitForRound());
        flapping = std::make_unique<RecordingUpstream>([](const HttpMessage&) { return RecordingUpstream::ok("back"); },
                                                       port);
        CHECK(flapping->waitForRequests(5));
        if (i == 1) resident = gateway.residentBytes();  // by now all that is kept for good is there
    }
    reads.stop();
    writes.stop();
    CHECK(reads.failures() == std::vector<std::string>{});
    // At most those that the upstream had when it was killed; what it had not got yet went elsewhere.
    CHECK(writes.failures().size() <= 6 * 2);
    for (const std::string& failure : writes.failures()) CHECK_THAT(failure, Catch::StartsWith("HTTP/1.1 502"));
    CHECK(eventually([&] { return gateway.descriptors() <= descriptors + kThreadsOwn; }));
#ifndef WEIR_SANITIZED
    CHECK(gateway.residentBytes() <= resident + (2 << 20));
#else
    (void)resident;  // the sanitizers keep what was freed
#endif
}
