#include "upstream/health_check.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "support/catch.hpp"
#include "support/recording_upstream.hpp"

using namespace weir;
using namespace weir::upstream;
using namespace std::chrono_literals;
using support::eventually;
using support::RecordingUpstream;

namespace {

RecordingUpstream::Reply answering(const std::string& bytes) {
    return [bytes](const support::HttpMessage&) { return bytes; };
}

// Checks of servers that a test holds, at short intervals.
struct Fixture {
    Fixture() {
        settings.enabled = true;
        settings.interval = 5ms;
        settings.timeout = 2s;
        ServerRegistry::Options options;
        options.checks = true;
        registry.configure(options);
    }
    std::shared_ptr<const Server> get(const std::string& url, bool wanted = true) {
        return registry.get(url, wanted).value();
    }
    void start() { check.emplace(settings, registry); }

    config::Settings::UpstreamCheck settings;
    ServerRegistry registry;
    std::optional<HealthCheck> check;
};

bool unhealthy(const Server& server) { return server.state.unhealthy; }

}  // namespace

TEST_CASE("an upstream that refuses connections is unhealthy, and healthy again when it takes one") {
    Fixture fixture;
    const int port = support::unusedPort();
    const auto server = fixture.get("127.0.0.1:" + std::to_string(port));
    const auto other = fixture.get("localhost:" + std::to_string(port), false);
    fixture.start();
    REQUIRE(eventually([&] { return unhealthy(*server); }));
    {
        const RecordingUpstream upstream(answering(""), port);
        REQUIRE(eventually([&] { return !unhealthy(*server); }));
    }
    CHECK(eventually([&] { return unhealthy(*server); }));
    CHECK_FALSE(unhealthy(*other));  // nobody asked for checks
}

TEST_CASE("a name without an address is unhealthy") {
    Fixture fixture;
    const auto server = fixture.get("no-such-name.invalid:80");
    fixture.start();
    CHECK(eventually([&] { return unhealthy(*server); }));
}

TEST_CASE("with a path the status decides") {
    struct Row {
        const char* answer;
        bool healthy;
    };
    const Row rows[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
        {"HTTP/1.0 204\r\n\r\n", true},
        {"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", true},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", false},
        {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", false},
        {"HTTP/1.1 2000 OK\r\n\r\n", false},
        {"SSH-2.0-OpenSSH_9.2\r\n", false},
        {"\n", false},
    };
    for (const Row& row : rows) {
        INFO(row.answer);
        Fixture fixture;
        const RecordingUpstream upstream(answering(row.answer));
        fixture.settings.path.text = "/health?deep=1";
        const auto server = fixture.get(upstream.address());
        server->state.unhealthy = row.healthy;  // the check has to change it
        fixture.start();
        CHECK(eventually([&] { return unhealthy(*server) != row.healthy; }));
        REQUIRE(upstream.waitForRequests(1));
        const support::HttpMessage request = upstream.requests().front();
        CHECK(request.startLine == "GET /health?deep=1 HTTP/1.1");
        CHECK(request.field("Host") == upstream.address());
    }
}

TEST_CASE("an upstream that takes the request and does not answer in time is unhealthy") {
    support::Gate gate;
    const RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.next();
        gate.wait();
    });
    Fixture fixture;
    fixture.settings.path.text = "/";
    fixture.settings.timeout = 20ms;
    const auto server = fixture.get(upstream.address());
    fixture.start();
    CHECK(eventually([&] { return unhealthy(*server); }));
    gate.open();
}

TEST_CASE("as many tries in a row as the thresholds say change the state, fewer do not") {
    std::atomic<int> asked{0};
    const RecordingUpstream upstream([&](const support::HttpMessage&) {
        // Two failures, a success, three failures, then successes.
        const int number = asked++;
        const bool good = number == 2 || number > 5;
        return std::string(good ? "HTTP/1.1 200 OK" : "HTTP/1.1 500 No") + "\r\nContent-Length: 0\r\n\r\n";
    });
    Fixture fixture;
    fixture.settings.path.text = "/";
    fixture.settings.unhealthyThreshold = 3;
    fixture.settings.healthyThreshold = 4;
    fixture.settings.poolSize = 1;
    const auto server = fixture.get(upstream.address());
    fixture.start();
    REQUIRE(eventually([&] { return unhealthy(*server); }));
    CHECK(asked >= 6);
    REQUIRE(eventually([&] { return !unhealthy(*server); }));
    CHECK(asked >= 10);
}

TEST_CASE("servers that come while it runs are checked, also more than are tried at one time") {
    Fixture fixture;
    fixture.settings.poolSize = 2;
    fixture.start();
    std::vector<std::shared_ptr<const Server>> servers;
    for (int i = 0; i < 20; ++i)
        servers.push_back(fixture.get("127.0.0.1:" + std::to_string(support::unusedPort())));
    CHECK(eventually([&] {
        return std::ranges::all_of(servers, [](const auto& server) { return unhealthy(*server); });
    }));
}

TEST_CASE("what nobody holds any more is not tried any more") {
    Fixture fixture;
    const RecordingUpstream upstream;
    auto server = fixture.get(upstream.address());
    fixture.start();
    REQUIRE(eventually([&] { return upstream.connections() > 2; }));
    server.reset();
    std::size_t before = 0;
    CHECK(eventually([&] { return std::exchange(before, upstream.connections()) == upstream.connections(); }));
    server = fixture.get(upstream.address());
    before = upstream.connections();
    CHECK(eventually([&] { return upstream.connections() > before; }));
}

namespace {

std::mutex linesMutex;
std::vector<std::string> lines;

bool logged(const std::string& line) {
    const std::lock_guard lock(linesMutex);
    return std::ranges::find(lines, line) != lines.end();
}

void keepLines() {
    base::setLogSink([](weir_log_level, std::string_view text) {
        const std::lock_guard lock(linesMutex);
        lines.emplace_back(text);
    });
}

// No descriptor can be opened while this lives.
struct NoDescriptors {
    NoDescriptors() {
        getrlimit(RLIMIT_NOFILE, &before);
        const rlimit none{4, before.rlim_max};  // all of them are in use; poll() takes as many
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }
    rlimit before{};
};

}  // namespace

TEST_CASE("the log says who is unhealthy, once and, if that is wanted, now and then") {
    keepLines();
    Fixture fixture;
    fixture.settings.printEnabled = true;
    fixture.settings.printInterval = 10ms;
    const RecordingUpstream upstream;
    const auto good = fixture.get(upstream.address());
    const std::string bad = "127.0.0.1:" + std::to_string(support::unusedPort());
    const auto server = fixture.get(bad);
    fixture.start();
    CHECK(eventually([&] { return logged("upstreamCheck: 1 healthy, 1 unhealthy: " + bad); }));
    CHECK(logged("upstream " + bad + " is unhealthy and gets no requests: " + bad + ": Connection refused"));
    fixture.check.reset();
    const std::lock_guard lock(linesMutex);
    CHECK(std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("upstream 127"); }) == 1);
}

TEST_CASE("a gateway without a descriptor left takes no upstream for unhealthy") {
    keepLines();
    Fixture fixture;
    const RecordingUpstream upstream;
    const auto server = fixture.get(upstream.address());
    fixture.start();
    REQUIRE(eventually([&] { return upstream.connections() > 0; }));
    {
        const NoDescriptors none;
        CHECK(eventually([] {
            return logged("upstreamCheck: no descriptor is left to try upstreams with; they are taken for what they "
                          "were");
        }));
    }
    CHECK_FALSE(unhealthy(*server));
}
