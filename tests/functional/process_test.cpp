// The gateway as a process: health, signals, settings.
#include <signal.h>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

TEST_CASE("the management port says UP and the chosen port") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    auto health = get(gateway.managementPort(), "/actuator/health");
    CHECK(health.status() == 200);
    CHECK_THAT(health.body, Catch::Contains("UP") && Catch::Contains(std::to_string(gateway.port())));
    CHECK(get(gateway.managementPort(), "/no/such/page").status() == 404);
}

TEST_CASE("SIGTERM and SIGINT end an idle gateway with exit code 0, in spite of a silent client") {
    for (int number : {SIGTERM, SIGINT}) {
        INFO("signal " << number);
        RecordingUpstream upstream;
        GatewayProcess gateway(proxyTo(upstream.address()));
        RawClient client(gateway.port());
        CHECK(client.exchange("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200);
        gateway.process().signal(number);
        CHECK(gateway.process().waitForExit() == 0);
        CHECK(client.closedByPeer());
    }
}

TEST_CASE("SIGTERM lets the request in flight complete, takes no new connection, and then ends with exit code 0") {
    Gate gate;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        while (connection.next()) {
            gate.wait();
            connection.send(RecordingUpstream::ok("drained"));
        }
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(upstream.waitForRequests(1));
    gateway.process().signal(SIGTERM);
    CHECK(eventually([&] { return !accepts(gateway.port()); }));
    gate.open();
    auto answer = client.response();
    CHECK(answer.body == "drained");
    CHECK(answer.field("Connection") == "close");
    CHECK(gateway.process().waitForExit() == 0);
}

TEST_CASE("SIGHUP and SIGUSR1 do not end the gateway") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    for (int number : {SIGHUP, SIGUSR1}) {
        gateway.process().signal(number);
        CHECK(get(gateway.port(), "/http/a").status() == 200);
    }
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a setting comes from the command line before the environment before the file") {
    RecordingUpstream upstream;
    int wanted = unusedPort();
    auto yaml = proxyTo(upstream.address());
    auto port = std::to_string(wanted);
    SECTION("the environment wins over the file") {
        TempDirectory directory;
        auto file = directory.write("weir.yaml", yaml);
        ChildProcess gateway(WEIR_BINARY, {"run", "-c", file, "--management.port=0"}, {"WEIR_SERVER_PORT=" + port});
        gateway.waitForLine("listening on 127.0.0.1:" + port);
        CHECK(get(wanted, "/http/a").status() == 200);
    }
    SECTION("the command line wins over the environment") {
        GatewayProcess gateway(yaml, {}, {"WEIR_SERVER_PORT=" + port});
        CHECK(gateway.port() != wanted);
    }
}

TEST_CASE("a port that somebody else holds ends the start with its number in the message") {
    RecordingUpstream upstream;
    TempDirectory directory;
    auto file = directory.write("weir.yaml", proxyTo(upstream.address()));
    auto taken = std::to_string(upstream.port());
    auto finished = runToEnd(WEIR_BINARY, {"run", "-c", file, "--management.port=0", "--server.port=" + taken});
    CHECK(finished.exitCode != 0);
    CHECK_THAT(finished.output, Catch::Contains(taken) && Catch::Contains("in use"));
}
