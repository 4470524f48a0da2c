// The tools of the black-box tests, tried on programs that are known to work.
#include <signal.h>

#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/nginx_server.hpp"
#include "support/recording_upstream.hpp"
#include "support/wire_connection.hpp"

using namespace weir::support;

TEST_CASE("a child's output, environment and exit code reach the test") {
    auto finished = runToEnd("sh", {"-c", "echo $GREETING; echo oops >&2; exit 7"}, {"GREETING=hello"});
    CHECK(finished.exitCode == 7);
    CHECK(finished.output == "hello\noops\n");
}

TEST_CASE("a child that a signal ends reports 128 and the signal") {
    ChildProcess child("sleep", {"100"});
    CHECK_FALSE(child.waitForExit(std::chrono::milliseconds(1)));
    child.signal(SIGTERM);
    CHECK(child.waitForExit() == 128 + SIGTERM);
}

TEST_CASE("waiting for a line of a program that ends without it throws with the output") {
    ChildProcess child("echo", {"something else"});
    CHECK_THROWS_WITH(child.waitForLine("ready "), Catch::Contains("something else"));
}

TEST_CASE("the raw client reads nginx's answers whole, kept alive, and pipelined") {
    NginxServer nginx("location /text { return 200 hello; } location /empty { return 204; }");
    nginx.root().write("file.bin", std::string(300'000, 'f'));
    RawClient client(nginx.port());
    auto request = [](const std::string& line) { return line + " HTTP/1.1\r\nHost: a\r\n\r\n"; };

    auto text = client.exchange(request("GET /text"));
    CHECK(text.status() == 200);
    CHECK(text.body == "hello");
    CHECK(text.field("content-length") == "5");
    client.send(request("GET /file.bin") + request("GET /empty") + request("GET /nothing"));
    CHECK(client.response().body.size() == 300'000);
    CHECK(client.response().status() == 204);
    CHECK(client.response().status() == 404);
    CHECK(client.exchange(request("HEAD /file.bin"), true).field("Content-Length") == "300000");
}

TEST_CASE("nginx's refusal of a configuration is in the exception") {
    CHECK_THROWS_WITH(NginxServer("no_such_directive on;"), Catch::Contains("unknown directive"));
}

TEST_CASE("the recording upstream remembers the bytes of each request and answers from its script") {
    RecordingUpstream upstream([](const HttpMessage& request) { return RecordingUpstream::ok("got " + request.body); });
    const std::string first = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    const std::string second = "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n2\r\nyz\r\n0\r\n\r\n";
    RawClient client(upstream.port());
    CHECK(client.exchange(first).body == "got abc");
    CHECK(client.exchange(second).body == "got xyz");
    client.close();

    REQUIRE(upstream.waitForEnded(1));
    REQUIRE(upstream.requests().size() == 2);
    CHECK(upstream.requests()[0].raw == first);
    CHECK(upstream.requests()[1].raw == second);
    CHECK(upstream.connections() == 1);
}

TEST_CASE("a script can cut an answer in the middle, and the client sees the cut") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
        connection.resetOnClose();
    });
    RawClient client(upstream.port());
    client.send("GET / HTTP/1.1\r\n\r\n");
    CHECK_THROWS(client.response());
    CHECK(client.closedByPeer() == false);  // it has sent bytes first
}

TEST_CASE("an unused port refuses") {
    CHECK_FALSE(accepts(unusedPort()));
}
