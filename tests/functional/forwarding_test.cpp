// What the upstream sees of a request and the client of an answer, byte by byte.
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

// A recording upstream behind a gateway, and a client in front of it.
struct Path {
    explicit Path(const std::string& answer = RecordingUpstream::ok("ok"))
        : upstream([answer](const HttpMessage&) { return answer; }) {}

    RecordingUpstream upstream;
    GatewayProcess gateway{proxyTo(upstream.address())};
    RawClient client{gateway.port()};
};

std::string getRequest(const std::string& target, const std::string& fields = "") {
    return "GET " + target + " HTTP/1.1\r\nHost: shop.test\r\n" + fields + "\r\n";
}

}  // namespace

TEST_CASE("a GET reaches the upstream without the context path and with the query untouched") {
    struct Row {
        const char* target;
        const char* forwarded;
    };
    const Row rows[] = {
        {"/http/order/findById?id=42", "/order/findById?id=42"},
        {"/http/a?x=%5D%2D&y=1%25&z=a+b", "/a?x=%5D%2D&y=1%25&z=a+b"},
        {"/http/a?", "/a?"},
        {"/http/a//b/", "/a//b/"},
        {"/http/a%20b/uri", "/a%20b/uri"},
    };
    Path path;
    for (const auto& row : rows) {
        INFO(row.target);
        auto answer = path.client.exchange(getRequest(row.target));
        CHECK(answer.status() == 200);
        CHECK(answer.body == "ok");
        CHECK(path.upstream.requests().back().startLine == std::string("GET ") + row.forwarded + " HTTP/1.1");
    }
}

TEST_CASE("the upstream gets its own Host and the client's in X-Forwarded-Host, with -For and -Proto") {
    Path path;
    path.client.exchange(getRequest("/http/a"));
    auto seen = path.upstream.requests().at(0);
    CHECK(seen.field("Host") == path.upstream.address());
    CHECK(seen.count("Host") == 1);
    CHECK(seen.field("X-Forwarded-Host") == "shop.test");
    CHECK(seen.field("X-Forwarded-For") == "127.0.0.1");
    CHECK(seen.field("X-Forwarded-Proto") == "http");
}

TEST_CASE("hop-by-hop fields and those that Connection names stay on their hop, all others pass unchanged") {
    Path path(RecordingUpstream::ok(
        "ok", "Connection: X-Int, keep-alive\r\nX-Int: secret\r\nKeep-Alive: timeout=5\r\nX-Kept: yes\r\n"
              "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n"));
    auto answer = path.client.exchange(
        getRequest("/http/a", "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"
                              "Proxy-Connection: keep-alive\r\nTE: trailers\r\nUpgrade: foo\r\nX-Empty:\r\n"
                              "X-Kept: yes\r\naccept: */*\r\n"));
    auto seen = path.upstream.requests().at(0);
    for (auto name : {"X-Hop", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade"}) {
        INFO(name);
        CHECK_FALSE(seen.has(name));
    }
    CHECK(seen.field("X-Kept") == "yes");
    CHECK(seen.field("X-Empty") == "");
    CHECK(seen.field("Accept") == "*/*");
    CHECK_FALSE(answer.has("X-Int"));
    CHECK_FALSE(answer.has("Keep-Alive"));
    CHECK(answer.field("X-Kept") == "yes");
    CHECK(answer.count("Set-Cookie") == 2);
}

TEST_CASE("a body with Content-Length arrives with the same length, in both directions") {
    RecordingUpstream upstream([](const HttpMessage& request) { return RecordingUpstream::ok("got " + request.body); });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    auto answer = client.exchange(
        "POST /http/order/save HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n"
        "{\"a\":12}");
    CHECK(answer.body == "got {\"a\":12}");
    CHECK(answer.field("Content-Length") == "12");
    CHECK_FALSE(answer.has("Transfer-Encoding"));
    auto seen = upstream.requests().at(0);
    CHECK(seen.body == "{\"a\":12}");
    CHECK(seen.field("Content-Length") == "8");
    CHECK_FALSE(seen.has("Transfer-Encoding"));
    CHECK(seen.field("Content-Type") == "application/json");
}

TEST_CASE("a chunked body arrives chunked, in both directions") {
    RecordingUpstream upstream([](const HttpMessage& request) {
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngot \r\n" +
               std::string("b\r\n") + request.body + "\r\n0\r\n\r\n";
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    auto answer = client.exchange(
        "POST /http/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    CHECK(answer.chunked);
    CHECK_FALSE(answer.has("Content-Length"));
    CHECK(answer.body == "got hello world");
    auto seen = upstream.requests().at(0);
    CHECK(seen.chunked);
    CHECK_FALSE(seen.has("Content-Length"));
    CHECK(seen.body == "hello world");
}

TEST_CASE("an answer that the upstream ends by closing reaches the client whole") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    CHECK(get(gateway.port(), "/http/a").body == "until the end");
}

TEST_CASE("answers without a body have none, keep their fields, and leave the connection usable") {
    struct Row {
        const char* method;
        const char* answer;
        int status;
        const char* length;  // that the client sees; null: not looked at
    };
    const Row rows[] = {
        {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Kept: yes\r\n\r\n", 200, "5"},
        {"GET", "HTTP/1.1 204 No Content\r\nX-Kept: yes\r\n\r\n", 204, nullptr},
        {"GET", "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nX-Kept: yes\r\n\r\n", 304, nullptr},
    };
    for (const auto& row : rows) {
        INFO(row.method << " " << row.status);
        Path path(row.answer);
        auto request = std::string(row.method) + " /http/a HTTP/1.1\r\nHost: a\r\n\r\n";
        for (int i = 0; i < 2; ++i) {  // the second would read a body as its status line
            auto answer = path.client.exchange(request, true);
            CHECK(answer.status() == row.status);
            CHECK(answer.field("X-Kept") == "yes");
            if (row.length) CHECK(answer.field("Content-Length") == row.length);
        }
    }
}
