// An upstream whose calls fail in a row is left out for a while, and comes back when it answers.
#include <atomic>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

// Breaks off after each request while `broken`.
class Breakable {
public:
    std::atomic<bool> broken{true};
    RecordingUpstream upstream{[this](RecordingUpstream::Connection& connection) {
        while (connection.next()) {
            if (broken) return connection.resetOnClose();
            connection.send(RecordingUpstream::ok("ok"));
        }
    }};
};

std::string withoutRetry(const std::vector<std::string>& addresses) {
    ProxyConfig config;
    for (const std::string& address : addresses) config.upstreams.push_back({address});
    config.retry = 0;
    config.timeoutMs = 300;
    return config.yaml();
}

int answered(GatewayProcess& gateway, int requests) {
    int good = 0;
    for (int i = 0; i < requests; ++i) good += get(gateway.port(), "/http/a").status() == 200;
    return good;
}

}  // namespace

TEST_CASE("an upstream is left out when so many calls in a row have failed, however they do") {
    struct Row {
        const char* name;
        RecordingUpstream::Serve serve;
    };
    const Row rows[] = {
        {"broken off",
         [](RecordingUpstream::Connection& connection) {
             connection.next();
             connection.resetOnClose();
         }},
        {"no answer in time",
         [](RecordingUpstream::Connection& connection) {
             connection.next();
             connection.next();
         }},
        {"not HTTP",
         [](RecordingUpstream::Connection& connection) {
             connection.next();
             connection.send("SSH-2.0-OpenSSH_9.2\r\n\r\n");
         }},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        RecordingUpstream bad(row.serve);
        RecordingUpstream good;
        GatewayProcess gateway(withoutRetry({bad.address(), good.address()}),
                               {"--upstream.ejection.failures=3", "--upstream.ejection.base=60s"});
        CHECK(answered(gateway, 20) == 17);
        CHECK(bad.requests().size() == 3);
        CHECK_NOTHROW(gateway.process().waitForLine("upstream " + bad.address() + ": left out for 60000 ms"));
    }
    SECTION("no connection") {
        RecordingUpstream good;
        GatewayProcess gateway(withoutRetry({"127.0.0.1:" + std::to_string(unusedPort()), good.address()}),
                               {"--upstream.ejection.failures=3", "--upstream.ejection.base=60s"});
        CHECK(answered(gateway, 20) == 17);
    }
}

TEST_CASE("answers with an error status do not count as failures of the upstream") {
    RecordingUpstream upstream([](const HttpMessage&) -> std::string {
        return "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
    });
    RecordingUpstream good;
    GatewayProcess gateway(withoutRetry({upstream.address(), good.address()}), {"--upstream.ejection.failures=2"});
    CHECK(answered(gateway, 20) == 10);
}

TEST_CASE("after its rest an upstream gets a trial, rests longer when that fails, and is back when it is answered") {
    Breakable bad;
    RecordingUpstream good;
    GatewayProcess gateway(withoutRetry({bad.upstream.address(), good.address()}),
                           {"--upstream.ejection.failures=2", "--upstream.ejection.base=300ms"});
    const std::string name = "upstream " + bad.upstream.address() + ": ";
    int failed = 0;
    CHECK(eventually([&] {
        failed += 1 - answered(gateway, 1);
        return failed == 3;  // two and the trial
    }));
    CHECK(bad.upstream.requests().size() == 3);
    CHECK_NOTHROW(gateway.process().waitForLine(name + "left out for 300 ms"));
    CHECK_NOTHROW(gateway.process().waitForLine(name + "left out for 600 ms"));
    bad.broken = false;
    CHECK(eventually([&] {
        CHECK(answered(gateway, 1) == 1);
        return bad.upstream.requests().size() > 3;
    }));
    CHECK_NOTHROW(gateway.process().waitForLine(name + "answers again, back in use"));
    const std::size_t before = bad.upstream.requests().size();
    CHECK(answered(gateway, 20) == 20);
    CHECK(bad.upstream.requests().size() == before + 10);
}

TEST_CASE("the only upstream is never left out") {
    Breakable only;
    GatewayProcess gateway(withoutRetry({only.upstream.address()}),
                           {"--upstream.ejection.failures=2", "--upstream.ejection.base=60s"});
    CHECK(answered(gateway, 6) == 0);
    CHECK(only.upstream.requests().size() == 6);
    only.broken = false;
    CHECK(answered(gateway, 6) == 6);
}
