// Expect: 100-continue (RFC 9110 10.1.1) and other interim answers (15.2): passed to those who may get them, never more
// than one 100, and a body that was not sent is never waited for or read out of the next request.
#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

const std::string kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Takes requests as an origin server does: one that is asked for 100 Continue answers it before the body comes.
RecordingUpstream::Serve server(const std::string& reply, bool wantsBody = true) {
    return [=](RecordingUpstream::Connection& connection) {
        for (;;) {
            const auto head = connection.receiveThrough("\r\n\r\n");
            const auto length = head.find("Content-Length: ");
            const bool body = length != std::string::npos && wantsBody;
            if (body && head.find("\r\nExpect: 100-continue\r\n") != std::string::npos) connection.send(kContinue);
            if (body) connection.receive(std::stoul(head.substr(length + 16)));
            connection.send(reply);
            if (!body && length != std::string::npos) connection.receiveUntilClose();
        }
    };
}

std::string expecting(const std::string& fields, const std::string& version = "1.1") {
    return "POST /s1/e HTTP/" + version + "\r\nHost: g\r\n" + fields + "\r\n";
}

// Interim answers of that status, then the final one.
HttpMessage finalAnswer(RawClient& client, int interimStatus, std::size_t& interims) {
    for (interims = 0;; ++interims) {
        auto answer = client.response();
        if (answer.status() >= 200) return answer;
        CHECK(answer.status() == interimStatus);
    }
}

}  // namespace

TEST_CASE("a client that waits for 100 Continue gets exactly one, also from a slow upstream") {
    Gate gate;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        const auto head = connection.receiveThrough("\r\n\r\n");
        if (head.find("Expect: 100-continue") != std::string::npos) connection.send(kContinue + kContinue);
        connection.receive(4);
        gate.wait();
        connection.send(RecordingUpstream::ok("taken"));
        connection.receiveUntilClose();
    });
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(expecting("Expect: 100-continue\r\nContent-Length: 4\r\n"));
    CHECK(client.receiveThrough("\r\n\r\n") == kContinue);
    client.send("body");
    rig.settle();
    gate.open();
    const auto answer = client.response();
    CHECK(answer.status() == 200);
    CHECK(answer.body == "taken");
}

TEST_CASE("a final answer in place of 100 Continue is passed on, and the body is not waited for") {
    for (const char* status : {"417 Expectation Failed", "401 Unauthorized", "200 OK"}) {
        INFO(status);
        RecordingUpstream upstream(
            server("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 2\r\n\r\nno", false));
        HttpRig rig(upstream);
        RawClient client(rig.port());
        client.send(expecting("Expect: 100-continue\r\nContent-Length: 4\r\n"));
        std::size_t continues = 0;
        const auto answer = finalAnswer(client, 100, continues);
        CHECK(answer.status() == std::stoi(status));
        CHECK(answer.body == "no");
        CHECK(continues <= 1);
        if (continues == 0) {
            // Whether the body comes is the client's choice, so the connection cannot go on.
            CHECK(answer.field("Connection") == "close");
            CHECK(client.closedByPeer());
        } else {
            // It was asked for its body: that is taken off the connection, or the connection is over.
            client.send("body" + getRequest("/alive"));
            if (const auto behind = client.message()) CHECK(behind->body == "ok");
            else CHECK(answer.field("Connection") == "close");
        }
    }
}

TEST_CASE("a refusal by the gateway itself sends no 100 Continue") {
    RecordingUpstream upstream;
    RigOptions options;
    options.guard = true;
    HttpRig rig(upstream, options);
    RawClient client(rig.port());
    client.send("POST /s1/denied HTTP/1.1\r\nHost: g\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    auto answer = client.response();
    CHECK(answer.status() == 403);
    CHECK(answer.field("Connection") == "close");
    CHECK(client.closedByPeer());
    CHECK(upstream.received().empty());
}

TEST_CASE("a request without a body is served at once whatever it expects") {
    RecordingUpstream upstream;
    HttpRig rig(upstream);
    for (const char* fields : {"Expect: 100-continue\r\n", "Expect: 100-continue\r\nContent-Length: 0\r\n"}) {
        INFO(fields);
        RawClient client(rig.port());
        CHECK(client.exchange(getRequest("/s1/a", fields)).status() == 200);
        CHECK(client.exchange(getRequest("/s1/b")).status() == 200);
    }
}

TEST_CASE("a body that comes without waiting is taken, with one 100 Continue at most") {
    RecordingUpstream upstream(server(RecordingUpstream::ok("ok")));
    HttpRig rig(upstream);
    RawClient client(rig.port());
    for (int i = 0; i < 2; ++i) {
        client.send(expecting("Expect: 100-continue\r\nContent-Length: 4\r\n") + "body");
        std::size_t continues = 0;
        CHECK(finalAnswer(client, 100, continues).status() == 200);
        CHECK(continues <= 1);
    }
}

TEST_CASE("an expectation that nobody knows is ignored or refused") {
    RecordingUpstream upstream(server(RecordingUpstream::ok("ok")));
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(expecting("Expect: 200-maybe\r\nContent-Length: 4\r\n") + "body");
    const int status = client.response().status();
    CHECK((status == 200 || status == 417));
    rig.settle();
    CHECK(upstream.received().find("200-maybe") == std::string::npos);
}

TEST_CASE("an HTTP/1.0 client gets no interim answer") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        for (;;) {
            const auto head = connection.receiveThrough("\r\n\r\n");
            if (head.find("Content-Length: 4") != std::string::npos) connection.receive(4);
            connection.send(kContinue + "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + RecordingUpstream::ok("ok"));
        }
    });
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(expecting("Expect: 100-continue\r\nConnection: keep-alive\r\nContent-Length: 4\r\n", "1.0") + "body");
    CHECK(client.response().status() == 200);
    CHECK(client.exchange(getRequest("/s1/a", "", "1.0")).status() == 200);
    CHECK(upstream.received().find("Expect") == std::string::npos);
}

TEST_CASE("early hints reach an HTTP/1.1 client, a 100 that it did not ask for does not") {
    RecordingUpstream upstream([](const HttpMessage&) {
        return kContinue +
               "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nConnection: X-Int\r\nX-Int: 1\r\n\r\n" +
               "HTTP/1.1 103 Early Hints\r\nLink: </b>; rel=preload\r\n\r\n" + RecordingUpstream::ok("ok");
    });
    HttpRig rig(upstream);
    RawClient client(rig.port());
    for (int i = 0; i < 2; ++i) {
        auto answer = client.exchange(getRequest("/s1/a"));
        CHECK(answer.status() == 103);
        if (answer.status() != 103) return;
        CHECK(answer.field("Link") == "</a>; rel=preload");
        CHECK_FALSE(answer.has("X-Int"));
        answer = client.response();
        CHECK(answer.status() == 103);
        CHECK(answer.field("Link") == "</b>; rel=preload");
        CHECK(client.response().body == "ok");
    }
}

TEST_CASE("an upstream that sends interim answers without end is cut off") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        for (;;) connection.send("HTTP/1.1 103 Early Hints\r\n\r\n");
    });
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(getRequest("/s1/a"));
    std::size_t hints = 0;
    CHECK(finalAnswer(client, 103, hints).status() == 502);
    CHECK(hints <= 100);
    CHECK(upstream.waitForEnded(1));
}
