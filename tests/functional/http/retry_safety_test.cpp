// What an upstream may have seen is sent once (RFC 9110 9.2.2): a rule's `retry` repeats only what was never sent.
#include "functional/http/http_rig.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

struct Row {
    const char* name;
    std::string request;
    std::string reply;  // empty: none
    bool resets;        // behind it, else the connection stays
    int status;
};

const std::string kPost = post("Content-Length: 4\r\n", "body");
const std::string kPostChunked = postChunked("4\r\nbody\r\n0\r\n\r\n");
const std::string kGet = getRequest("/s1/a");

RigOptions retrying(int timeoutMs) {
    RigOptions options;
    options.retry = 3;
    options.timeoutMs = timeoutMs;
    return options;
}

}  // namespace

TEST_CASE("a request that an upstream has seen is not repeated") {
    const std::string error = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";
    const std::string missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    const std::string limited = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
    const Row rows[] = {
        {"POST, 500", kPost, error, false, 500},
        {"chunked POST, 500", kPostChunked, error, false, 500},
        {"PATCH, 503", "PATCH /s1/a HTTP/1.1\r\nHost: g\r\n\r\n",
         "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", false, 503},
        {"POST without a body, 500", post("Content-Length: 0\r\n"), error, false, 500},
        {"POST, no answer in time", kPost, "", false, 504},
        {"chunked POST, no answer in time", kPostChunked, "", false, 504},
        {"POST, reset", kPost, "", true, 502},
        {"POST, half an answer", kPost, "HTTP/1.1 200 OK\r\nContent-", true, 502},
        {"POST, nonsense", kPost, "nonsense\r\n\r\n", false, 502},
        {"GET, 404", kGet, missing, false, 404},
        {"GET, 429", kGet, limited, false, 429},
        {"PUT, 404", "PUT /s1/a HTTP/1.1\r\nHost: g\r\nContent-Length: 4\r\n\r\nbody", missing, false, 404},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
            while (connection.next()) {
                connection.send(row.reply);
                if (row.resets) return connection.resetOnClose();
            }
        });
        HttpRig rig(upstream, retrying(row.reply.empty() && !row.resets ? 200 : 5000));
        RawClient client(rig.port());
        CHECK(client.exchange(row.request).status() == row.status);
        rig.settle();
        CHECK(upstream.requests().size() == 1);
        CHECK(upstream.connections() == 1);
    }
}

TEST_CASE("a POST on a kept connection that the upstream closes meanwhile is not repeated") {
    // The upstream has read it, so it may have acted upon it.
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send(RecordingUpstream::ok("ok"));
        connection.next();
    });
    HttpRig rig(upstream, retrying(5000));
    RawClient client(rig.port());
    CHECK(client.exchange(kGet).status() == 200);
    CHECK(client.exchange(kPost).status() == 502);
    rig.settle();
    CHECK(upstream.requests().size() == 2);
    CHECK(client.exchange(kGet).status() == 200);
}

TEST_CASE("refused connections end in one 502, and the connection serves on when the upstream is back") {
    const int port = unusedPort();
    ProxyConfig config;
    config.upstreams = {{"127.0.0.1:" + std::to_string(port)}};
    GatewayProcess gateway(config.yaml());
    const std::string get = getRequest("/http/a");
    const std::string head = "POST /http/a HTTP/1.1\r\nHost: g\r\n";
    const std::string put = head + "Content-Length: 4\r\n\r\nbody";
    const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
    RawClient client(gateway.port());
    for (const auto& request : {get, put, chunked}) CHECK(client.exchange(request).status() == 502);
    RecordingUpstream upstream(echoBody(), port);
    CHECK(client.exchange(get).status() == 200);
    for (const auto& request : {put, chunked}) CHECK(client.exchange(request).body == "body");
    CHECK(upstream.requests().size() == 3);
    CHECK(gateway.stop() == 0);
}
