// What the client sees when something is missing or breaks.
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

const std::string kGet = "GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n";

std::string withTimeout(const std::string& address, int timeoutMs) {
    ProxyConfig config;
    config.upstreams = {{address}};
    config.timeoutMs = timeoutMs;
    config.retry = 0;
    return config.yaml();
}

// Takes a request, sends `bytes` and breaks the connection off.
RecordingUpstream::Serve breakOffAfter(const std::string& bytes) {
    return [bytes](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send(bytes);
        connection.resetOnClose();
    };
}

}  // namespace

TEST_CASE("without a matching selector divide answers 404 with ShenYu's code and message and keeps the connection") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    auto answer = client.exchange("GET /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(answer.status() == 404);
    CHECK(answer.field("Content-Type").value_or("").rfind("application/json", 0) == 0);
    CHECK(answer.body ==
          R"({"code":-107,"message":"divide:Can not find selector, please check your configuration!"})");
    CHECK(client.exchange(kGet).status() == 200);
    CHECK(upstream.requests().size() == 1);
}

TEST_CASE("with a selector but no matching rule divide answers 404 with ShenYu's code and message") {
    RecordingUpstream upstream;
    ProxyConfig config;
    config.upstreams = {{upstream.address()}};
    config.rulePath = "/http/order/**";
    GatewayProcess gateway(config.yaml());
    auto answer = get(gateway.port(), "/http/other");
    CHECK(answer.status() == 404);
    CHECK(answer.body == R"({"code":-102,"message":"divide:Rule not found!"})");
    CHECK(get(gateway.port(), "/http/order/1").status() == 200);
}

TEST_CASE("a refused answer leaves the unread body of its request out of the next one") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send("POST /elsewhere HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /" + kGet);
    CHECK(client.response().status() == 404);
    CHECK(client.response().status() == 200);
}

TEST_CASE("an upstream that refuses, closes or speaks nonsense is a 502") {
    SECTION("refuses") {
        GatewayProcess gateway(proxyTo("127.0.0.1:" + std::to_string(unusedPort())));
        CHECK(get(gateway.port(), "/http/a").status() == 502);
    }
    SECTION("closes before an answer") {
        RecordingUpstream upstream(breakOffAfter(""));
        GatewayProcess gateway(proxyTo(upstream.address()));
        CHECK(get(gateway.port(), "/http/a").status() == 502);
    }
    SECTION("speaks nonsense") {
        RecordingUpstream upstream(breakOffAfter("SSH-2.0-OpenSSH_9.2\r\n\r\n"));
        GatewayProcess gateway(proxyTo(upstream.address()));
        CHECK(get(gateway.port(), "/http/a").status() == 502);
    }
}

TEST_CASE("an upstream that comes back after refusing serves again") {
    int port = unusedPort();
    GatewayProcess gateway(proxyTo("127.0.0.1:" + std::to_string(port)));
    CHECK(get(gateway.port(), "/http/a").status() == 502);
    RecordingUpstream upstream([](const HttpMessage&) { return RecordingUpstream::ok("back"); }, port);
    CHECK(get(gateway.port(), "/http/a").body == "back");
}

TEST_CASE("an upstream without an answer in time is a 504 with a JSON body, and its connection is closed") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.next();  // waits for the gateway's close
    });
    GatewayProcess gateway(withTimeout(upstream.address(), 200));
    RawClient client(gateway.port());
    auto answer = client.exchange(kGet);
    CHECK(answer.status() == 504);
    CHECK_THAT(answer.body, Catch::Contains("\"code\":") && Catch::Contains("\"message\":"));
    CHECK(upstream.waitForEnded(1));
    CHECK(upstream.requests().size() == 1);
}

TEST_CASE("a slow body is no timeout: the timeout ends with the response head") {
    Gate gate;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst");
        gate.wait();
        connection.send("later");
    });
    GatewayProcess gateway(withTimeout(upstream.address(), 200));
    RawClient client(gateway.port());
    client.send(kGet);
    client.receiveThrough("first");  // streamed, not held back
    // Longer than the timeout: that many round trips to the management port.
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
    while (std::chrono::steady_clock::now() < end) get(gateway.managementPort(), "/actuator/health");
    gate.open();
    CHECK(client.receive(5) == "later");
}

TEST_CASE("an upstream that breaks off in the middle cuts the client off visibly") {
    struct Row {
        const char* name;
        const char* bytes;
    };
    const Row rows[] = {
        {"Content-Length", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartial"},
        {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npartial\r\n"},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        RecordingUpstream upstream(breakOffAfter(row.bytes));
        GatewayProcess gateway(proxyTo(upstream.address()));
        RawClient client(gateway.port());
        client.send(kGet);
        auto all = client.receiveUntilClose();
        // A reset may overtake the head; then a 502 is as honest. What must not come is a message that looks whole.
        if (all.rfind("HTTP/1.1 502", 0) != 0) {
            CHECK(all.rfind("HTTP/1.1 200", 0) == 0);
            CHECK_THAT(all, !Catch::EndsWith("0\r\n\r\n"));
            CHECK(all.size() < 300);
        }
        CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    }
}

TEST_CASE("a response that is cut takes nothing of the answers before it") {
    // More than the client's side of the connection holds unread, so that the gateway's side has the rest of it.
    const std::string first(300'000, 'x');
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + first);
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartial");
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\nGET /http/b HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(eventually([&] {
        return get(gateway.managementPort(), "/actuator/prometheus").body.find("weir_requests_aborted_total 1\n") !=
               std::string::npos;
    }));
    const auto answer = client.message();
    REQUIRE(answer);
    CHECK(answer->body == first);
    CHECK_THAT(client.receiveUntilClose(), Catch::EndsWith("partial"));
}

TEST_CASE("a client that goes away cancels the call to the upstream") {
    struct Row {
        const char* name;
        std::vector<std::string> arguments;
        void (*leave)(RawClient&);
    };
    const Row rows[] = {
        {"reset", {}, [](RawClient& client) { client.resetOnClose(); client.close(); }},
        {"close", {"--server.halfClose=false"}, [](RawClient& client) { client.close(); }},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
            connection.next();
            connection.next();  // no answer; ends at the gateway's close
        });
        GatewayProcess gateway(withTimeout(upstream.address(), 60'000), row.arguments);
        RawClient client(gateway.port());
        client.send(kGet);
        REQUIRE(upstream.waitForRequests(1));
        row.leave(client);
        CHECK(upstream.waitForEnded(1));
    }
}

TEST_CASE("a client that has closed its sending side gets the answers to all it has sent, and then the end") {
    for (const char* behind : {"", "GET /http/never"}) {
        INFO("behind the requests: '" << behind << "'");
        Gate closed;
        RecordingUpstream upstream([&](const HttpMessage& request) {
            closed.wait();
            return RecordingUpstream::ok(request.startLine);
        });
        GatewayProcess gateway(proxyTo(upstream.address()));
        RawClient client(gateway.port());
        client.send(std::string("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\nPOST /http/b HTTP/1.1\r\nHost: a\r\n"
                                "Content-Length: 1\r\n\r\nxGET /http/c HTTP/1.1\r\nHost: a\r\n\r\n") + behind);
        client.shutdownWrite();
        closed.open();
        for (const char* line : {"GET /a HTTP/1.1", "POST /b HTTP/1.1", "GET /c HTTP/1.1"}) {
            const auto answer = client.message();
            REQUIRE(answer);
            CHECK(answer->body == line);
        }
        CHECK(client.closedByPeer());
    }
}

TEST_CASE("a client that goes away in the middle of its body leaves the upstream without a whole request") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    {
        RawClient client(gateway.port());
        client.send("POST /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
        REQUIRE(eventually([&] { return upstream.connections() == 1; }));
    }
    CHECK(upstream.waitForEnded(1));
    CHECK(upstream.requests().empty());
}
