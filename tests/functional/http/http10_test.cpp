// HTTP/1.0 clients (RFC 9112 9.3): no chunks, and a kept connection only when both sides know where the answer ends.
#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";

struct Row {
    const char* name;
    std::string request;
    std::string reply;
    bool kept;
    bool upstreamCloses = false;
};

}  // namespace

TEST_CASE("an HTTP/1.0 client gets a length or the end of the connection, never chunks") {
    const std::string keep = "Connection: keep-alive\r\n";
    const Row rows[] = {
        {"chunked", "GET /s1/c HTTP/1.0\r\n\r\n", kChunked, false},
        {"chunked, keep-alive", getRequest("/s1/c", keep, "1.0"), kChunked, false},
        {"a length", getRequest("/s1/c", "", "1.0"), RecordingUpstream::ok("hello"), false},
        {"a length, keep-alive", getRequest("/s1/c", keep, "1.0"), RecordingUpstream::ok("hello"), true},
        {"a length, keep-alive without Host", "GET /s1/c HTTP/1.0\r\n" + keep + "\r\n", RecordingUpstream::ok("hello"),
         true},
        {"a length, keep-alive in capitals", getRequest("/s1/c", "Connection: Keep-Alive\r\n", "1.0"),
         RecordingUpstream::ok("hello"), true},
        {"a length, keep-alive and close", getRequest("/s1/c", "Connection: keep-alive, close\r\n", "1.0"),
         RecordingUpstream::ok("hello"), false},
        {"until close, keep-alive", getRequest("/s1/c", keep, "1.0"), "HTTP/1.0 200 OK\r\n\r\nhello", false, true},
        {"the upstream closes, keep-alive", getRequest("/s1/c", keep, "1.0"),
         "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", true, true},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
            while (connection.next()) {
                connection.send(row.reply);
                if (row.upstreamCloses) return;
            }
        });
        HttpRig rig(upstream);
        RawClient client(rig.port());
        const auto answer = client.exchange(row.request);
        CHECK(answer.status() == 200);
        CHECK(answer.body == "hello");
        CHECK_FALSE(answer.has("Transfer-Encoding"));
        CHECK(upstream.requests().at(0).startLine == "GET /s1/c HTTP/1.1");
        if (row.kept) {
            CHECK(answer.field("Connection") == "keep-alive");
            CHECK(answer.field("Content-Length") == "5");
            CHECK(client.exchange(row.request).body == "hello");
        } else {
            CHECK(answer.field("Connection").value_or("close") == "close");
            CHECK(client.closedByPeer());
        }
    }
}

TEST_CASE("an answer that breaks off ends an HTTP/1.0 client's connection with a reset, not as if it were whole") {
    for (const char* rest : {"", "5\r\nhel", "nonsense\r\n", "0\r\nnonsense\r\n\r\n"}) {
        INFO(rest);
        Gate seen;
        RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
            connection.next();
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
            seen.wait();
            connection.send(rest);
        });
        HttpRig rig(upstream);
        RawClient client(rig.port());
        client.send(getRequest("/s1/c", "", "1.0"));
        std::string ending;
        try {
            client.receiveThrough("hello");
            seen.open();
            while (!client.receiveSome(1000).empty()) {
            }
            ending = "closed";
        } catch (const std::exception& error) {
            ending = error.what();
        }
        CHECK_THAT(ending, Catch::Contains("reset"));
    }
}

TEST_CASE("a request body of an HTTP/1.0 client is framed by its length") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    RawClient client(rig.port());
    CHECK(client.exchange("POST /s1/e HTTP/1.0\r\nContent-Length: 4\r\nConnection: keep-alive\r\n\r\nbody").body ==
          "body");
    CHECK(client.exchange("POST /s1/e HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").body.empty());
    CHECK(client.exchange(getRequest("/s1/c", "", "1.0")).status() == 200);
    CHECK(client.closedByPeer());
}

TEST_CASE("HEAD of an HTTP/1.0 client has the length of an answer that would have one") {
    RecordingUpstream upstream([](const HttpMessage&) { return "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"; });
    HttpRig rig(upstream);
    RawClient client(rig.port());
    const auto answer = client.exchange("HEAD /s1/c HTTP/1.0\r\n\r\n", true);
    CHECK(answer.field("Content-Length") == "1234");
    CHECK(client.closedByPeer());
}
