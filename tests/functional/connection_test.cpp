// Connections on both sides: kept, shared, pipelined, and shared out among event loops.
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

std::string request(const std::string& target, const std::string& version = "1.1", const std::string& fields = "") {
    return "GET " + target + " HTTP/" + version + "\r\nHost: a\r\n" + fields + "\r\n";
}

RecordingUpstream::Reply echoTarget() {
    return [](const HttpMessage& request) { return RecordingUpstream::ok(request.startLine); };
}

}  // namespace

TEST_CASE("ten requests of one client after the other use one upstream connection") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    for (int i = 0; i < 10; ++i) CHECK(client.exchange(request("/http/a")).status() == 200);
    CHECK(upstream.requests().size() == 10);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("an upstream connection outlives the client and serves the next one") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    for (int i = 0; i < 3; ++i) CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("a pooled connection that the upstream has closed is not used again") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send(RecordingUpstream::ok("once"));
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    for (std::size_t i = 1; i <= 3; ++i) {
        CHECK(client.exchange(request("/http/a")).body == "once");
        REQUIRE(upstream.waitForEnded(i));
    }
    CHECK(upstream.connections() == 3);
}

TEST_CASE("three requests in one segment get their answers in order") {
    RecordingUpstream upstream(echoTarget());
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send(request("/http/1") + request("/http/2") + request("/http/3"));
    for (auto target : {"/1", "/2", "/3"}) {
        CHECK(client.response().body == std::string("GET ") + target + " HTTP/1.1");
    }
}

TEST_CASE("a pipelined request behind a body is not taken for a part of it") {
    RecordingUpstream upstream([](const HttpMessage& r) { return RecordingUpstream::ok(r.startLine + "|" + r.body); });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send("POST /http/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                "POST /http/2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ndef\r\n0\r\n\r\n" +
                request("/http/3"));
    CHECK(client.response().body == "POST /1 HTTP/1.1|abc");
    CHECK(client.response().body == "POST /2 HTTP/1.1|def");
    CHECK(client.response().body == "GET /3 HTTP/1.1|");
}

TEST_CASE("a request that arrives byte by byte is one request") {
    RecordingUpstream upstream([](const HttpMessage& r) { return RecordingUpstream::ok(r.body); });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    const std::string bytes =
        "POST /http/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
    for (char byte : bytes) client.send(std::string_view(&byte, 1));
    CHECK(client.response().body == "ab");
}

TEST_CASE("Connection: close is answered and then obeyed") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    auto answer = client.exchange(request("/http/a", "1.1", "Connection: close\r\n"));
    CHECK(answer.body == "ok");
    CHECK(answer.field("Connection") == "close");
    CHECK(client.closedByPeer());
}

TEST_CASE("an HTTP/1.0 client gets no chunks, and its connection closes unless it asked to keep it") {
    RecordingUpstream upstream([](const HttpMessage&) {
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    auto answer = client.exchange(request("/http/a", "1.0"));
    CHECK(answer.status() == 200);
    CHECK_FALSE(answer.has("Transfer-Encoding"));
    CHECK(answer.body == "hello");
    CHECK(client.closedByPeer());
    CHECK(upstream.requests().at(0).startLine == "GET /a HTTP/1.1");
}

TEST_CASE("an HTTP/1.0 client that asks for it keeps its connection when the length is known") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    for (int i = 0; i < 2; ++i) {
        auto answer = client.exchange(request("/http/a", "1.0", "Connection: keep-alive\r\n"));
        CHECK(answer.body == "ok");
        CHECK(answer.field("Connection") == "keep-alive");
    }
}

TEST_CASE("two event loops serve clients at the same time, each with its own upstream connections") {
    RecordingUpstream upstream(echoTarget());
    GatewayProcess gateway(proxyTo(upstream.address()), {"--server.threads=2"});
    std::vector<RawClient> clients;
    for (int i = 0; i < 50; ++i) clients.emplace_back(gateway.port());
    for (int round = 0; round < 3; ++round) {
        for (auto& client : clients) client.send(request("/http/" + std::to_string(round)));
        for (auto& client : clients) {
            CHECK(client.response().body == "GET /" + std::to_string(round) + " HTTP/1.1");
        }
    }
    CHECK(upstream.requests().size() == 150);
    CHECK(gateway.stop() == 0);
}
