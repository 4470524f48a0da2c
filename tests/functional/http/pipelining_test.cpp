// Requests behind each other on one connection (RFC 9112 9.3.2): answered in their order, however the bytes arrive.
#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

// Different enough that a lost, doubled or moved answer shows.
const std::string kFive = getRequest("/s1/slow") + getRequest("/s1/fast") + getRequest("/s1/denied") +
                          post("Content-Length: 4\r\n", "body") + getRequest("/s1/last");

RecordingUpstream::Reply answerByPath(const Gate* slow = nullptr) {
    return [slow](const HttpMessage& request) {
        if (slow && request.startLine.find("/slow") != std::string::npos) slow->wait();
        return RecordingUpstream::ok(request.startLine + "|" + request.body);
    };
}

void checkFive(RawClient& client) {
    CHECK(client.response().body == "GET /s1/slow HTTP/1.1|");
    CHECK(client.response().body == "GET /s1/fast HTTP/1.1|");
    auto denied = client.response();
    CHECK(denied.status() == 403);
    CHECK(denied.body == "denied");
    CHECK(client.response().body == "POST /s1/e HTTP/1.1|body");
    CHECK(client.response().body == "GET /s1/last HTTP/1.1|");
}

RigOptions withGuard() {
    RigOptions options;
    options.guard = true;
    return options;
}

}  // namespace

TEST_CASE("five requests in one segment are answered in order though the first takes longest") {
    Gate slow;
    RecordingUpstream upstream(answerByPath(&slow));
    HttpRig rig(upstream, withGuard());
    RawClient client(rig.port());
    client.send(kFive);
    REQUIRE(upstream.waitForRequests(1));
    rig.settle();
    CHECK(upstream.requests().size() == 1);  // the others wait for their turn
    slow.open();
    checkFive(client);
    CHECK(upstream.requests().size() == 4);
}

TEST_CASE("requests that are cut at any byte are answered the same") {
    RecordingUpstream upstream(answerByPath());
    HttpRig rig(upstream, withGuard());
    for (std::size_t cut = 1; cut < kFive.size(); ++cut) {
        INFO("cut at " << cut);
        RawClient client(rig.port());
        client.send(kFive.substr(0, cut));
        rig.settle();
        client.send(kFive.substr(cut));
        REQUIRE_NOTHROW(checkFive(client));
    }
    CHECK(upstream.requests().size() == 4 * (kFive.size() - 1));
}

TEST_CASE("a malformed request behind others is refused after their answers, and nothing behind it is served") {
    RecordingUpstream upstream(answerByPath());
    HttpRig rig(upstream, withGuard());
    const std::string bytes = getRequest("/s1/slow") + "GET /s1/bad HTTP/1.1\r\nHost: g\r\nX Y: 1\r\n\r\n" +
                              getRequest("/s1/never");
    for (std::size_t cut = 1; cut <= bytes.size(); ++cut) {
        INFO("cut at " << cut);
        RawClient client(rig.port());
        client.send(bytes.substr(0, cut));
        if (cut < bytes.size()) {
            rig.settle();
            try {
                client.send(bytes.substr(cut));
            } catch (const std::system_error&) {
            }  // refused and closed already
        }
        const auto answers = answersUntilClose(client);
        REQUIRE(answers.size() == 2);
        CHECK(answers[0].body == "GET /s1/slow HTTP/1.1|");
        CHECK_FALSE(answers[0].has("Connection"));
        CHECK(answers[1].status() == 400);
        CHECK(answers[1].field("Connection") == "close");
    }
    rig.settle();
    CHECK(upstream.received().find("/s1/never") == std::string::npos);
    CHECK(upstream.received().find("/s1/bad") == std::string::npos);
}

TEST_CASE("a malformed request is refused only when the answer before it is out") {
    Gate slow;
    RecordingUpstream upstream(answerByPath(&slow));
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(getRequest("/s1/slow") + "nonsense\r\n\r\n");
    REQUIRE(upstream.waitForRequests(1));
    rig.settle();
    slow.open();
    const auto answers = answersUntilClose(client);
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].status() == 200);
    CHECK(answers[1].status() == 400);
}

TEST_CASE("nothing behind a request with Connection: close is served") {
    RecordingUpstream upstream(answerByPath());
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(getRequest("/s1/a", "Connection: close\r\n") + getRequest("/s1/never"));
    const auto answers = answersUntilClose(client);
    CHECK(answers.size() == 1);
    rig.settle();
    CHECK(upstream.requests().size() == 1);
}

TEST_CASE("a long pipeline is answered whole") {
    RecordingUpstream upstream(answerByPath());
    HttpRig rig(upstream, withGuard());
    RawClient client(rig.port());
    std::string bytes;
    for (int i = 0; i < 1000; ++i) bytes += getRequest("/s1/" + std::to_string(i));
    client.send(bytes);
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(client.response().body == "GET /s1/" + std::to_string(i) + " HTTP/1.1|");
    }
}
