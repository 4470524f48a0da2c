// Clients that take their time or say nothing cost others nothing and leave nothing behind.
#include <sys/resource.h>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

// The test program holds the other end of each connection.
void raiseDescriptorLimit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

TEST_CASE("a thousand silent connections hold up nobody, and their descriptors come back") {
    raiseDescriptorLimit();
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    CHECK(get(gateway.port(), "/http/a").status() == 200);  // the upstream connection is pooled from here on
    auto before = gateway.descriptors();
    {
        std::vector<RawClient> silent;
        for (int i = 0; i < 1000; ++i) silent.emplace_back(gateway.port());
        REQUIRE(eventually([&] { return gateway.descriptors() >= 1000; }));
        for (int i = 0; i < 20; ++i) CHECK(get(gateway.port(), "/http/a").status() == 200);
    }
    CHECK(eventually([&] { return gateway.descriptors() <= before + kThreadsOwn; }));
}

TEST_CASE("a client that sends one byte at a time is served in the end, and others meanwhile") {
    RecordingUpstream upstream([](const HttpMessage& r) { return RecordingUpstream::ok(r.body); });
    GatewayProcess gateway(proxyTo(upstream.address()));
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    auto before = gateway.descriptors();
    {
        RawClient slow(gateway.port());
        const std::string bytes = "POST /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nslow";
        for (char byte : bytes) {
            slow.send(std::string_view(&byte, 1));
            REQUIRE(get(gateway.port(), "/http/a").status() == 200);
        }
        CHECK(slow.response().body == "slow");
    }
    // One more upstream connection than before may stay in the pool: both calls ran at once.
    CHECK(eventually([&] { return gateway.descriptors() <= before + 1 + kThreadsOwn; }));
}

TEST_CASE("clients that leave in the middle of an answer leave no descriptor behind") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        while (connection.next()) {
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
            for (;;) connection.send(chunk);  // until the gateway closes
        }
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    auto before = gateway.descriptors();
    for (std::size_t i = 1; i <= 20; ++i) {
        RawClient client(gateway.port());
        client.send("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n");
        client.receiveThrough("xxx");
        client.resetOnClose();
        client.close();
        REQUIRE(upstream.waitForEnded(i));
    }
    CHECK(eventually([&] { return gateway.descriptors() <= before + kThreadsOwn; }));
}
