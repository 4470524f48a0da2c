// Clients that take their time (RFC 9112 9.5): limits for a head as a whole, for pauses within a body, for idle
// connections and for clients that do not read; nobody else is slower for it. Times are a hundredth of the defaults.
#include <algorithm>
#include <thread>

#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"
#include "support/request_load.hpp"

using namespace weir::support;
using namespace weir::functional;
using namespace std::chrono_literals;

namespace {

constexpr auto kLimit = 600ms;
constexpr auto kShort = 50ms;  // between two bytes of a client that dribbles
#ifdef WEIR_SANITIZED
constexpr auto kOthers = 1s;     // of a hundred other requests all but one are answered within this
#else
constexpr auto kOthers = 100ms;
#endif
constexpr auto kLong = 5s;     // what is over later than this was not cut by kLimit

RigOptions withLimits() {
    RigOptions options;
    for (const char* name : {"server.headerTimeout", "server.bodyTimeout", "server.keepAliveTimeout"})
        options.arguments.push_back("--" + std::string(name) + "=600ms");
    return options;
}

// Sends one byte after the other, with pauses, until the gateway answers, closes, or kLong is over.
void dribble(RawClient& client, const std::string& bytes) {
    const auto end = std::chrono::steady_clock::now() + kLong;
    try {
        for (std::size_t i = 0; i < bytes.size() && std::chrono::steady_clock::now() < end; ++i) {
            client.send(bytes.substr(i, 1));
            std::this_thread::sleep_for(kShort);
        }
    } catch (const std::system_error&) {
    }  // cut
}

std::chrono::steady_clock::duration timeOf(const std::function<void()>& action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::steady_clock::now() - start;
}

// One answer, 408, then the close; or, where `silent`, nothing but the close.
void checkCut(RawClient& client, bool silent = false) {
    std::vector<HttpMessage> answers;
    const auto took = timeOf([&] { answers = answersUntilClose(client); });
    CHECK(took < kLong);
    CHECK(answers.size() == (silent ? 0 : 1));
    for (const auto& answer : answers) {
        CHECK(answer.status() == 408);
        CHECK(answer.field("Connection") == "close");
    }
}

}  // namespace

TEST_CASE("a head that does not end in time is a 408, however its bytes come") {
    RecordingUpstream upstream;
    HttpRig rig(upstream, withLimits());
    const std::string endless = getRequest("/s1/a", "X-Slow: " + std::string(1000, 'x') + "\r\n");
    SECTION("byte by byte") {
        RawClient client(rig.port());
        std::thread sender([&] { dribble(client, endless); });  // the answer comes while it sends
        sender.join();
        checkCut(client);
    }
    SECTION("field by field") {
        RawClient client(rig.port());
        client.send("GET /s1/a HTTP/1.1\r\nHost: g\r\n");
        dribble(client, endless.substr(0, 40));
        checkCut(client);
    }
    SECTION("a part and then nothing") {
        RawClient client(rig.port());
        client.send("GET /s1/a HTTP/1.1\r\nHost: g\r\n");
        checkCut(client);
    }
    SECTION("on the second request of a connection") {
        RawClient client(rig.port());
        CHECK(client.exchange(getRequest("/s1/a")).status() == 200);
        dribble(client, endless.substr(0, 40));
        checkCut(client);
    }
    SECTION("empty lines before the request line") {
        RawClient client(rig.port());
        client.send("\r\n");
        for (const auto& answer : answersUntilClose(client)) CHECK(answer.status() == 408);  // or silently
    }
    CHECK(upstream.received().find("X-Slow") == std::string::npos);
}

TEST_CASE("a body that pauses too long is a 408 and no whole message for the upstream") {
    RecordingUpstream upstream;
    HttpRig rig(upstream, withLimits());
    for (const auto& bytes : {post("Content-Length: 100\r\n"), post("Content-Length: 100\r\n", "half"),
                              postChunked("4\r\nhalf\r\n"), postChunked("4\r\nha"), postChunked("")}) {
        INFO(bytes);
        RawClient client(rig.port());
        client.send(bytes);
        checkCut(client);
    }
    CHECK(eventually([&] { return upstream.connections() == upstream.ended(); }));
    CHECK(upstream.requests().empty());
}

TEST_CASE("a body that comes slowly but steadily is served") {
    RecordingUpstream upstream(echoBody());
    RigOptions options;
    options.arguments = {"--server.bodyTimeout=2s"};
    HttpRig rig(upstream, options);
    RawClient client(rig.port());
    client.send(post("Content-Length: 100\r\n"));
    for (int i = 0; i < 100; ++i) {
        client.send("x");
        std::this_thread::sleep_for(10ms);
    }
    CHECK(client.response().body == std::string(100, 'x'));
}

TEST_CASE("a body of single bytes does not hold a connection for ever") {
    // Each byte comes within the pause that is allowed, but at this pace the announced megabyte would take a day.
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream, withLimits());
    RawClient client(rig.port());
    client.send(post("Content-Length: 1000000\r\n"));
    CHECK(timeOf([&] { dribble(client, std::string(1000, 'x')); }) < kLong);
    CHECK(upstream.requests().empty());
}

TEST_CASE("a connection that stays idle is closed without an answer") {
    RecordingUpstream upstream;
    HttpRig rig(upstream, withLimits());
    SECTION("after it was made") {
        RawClient client(rig.port());
        checkCut(client, true);
    }
    SECTION("after an answer") {
        RawClient client(rig.port());
        CHECK(client.exchange(getRequest("/s1/a")).status() == 200);
        checkCut(client, true);
    }
}

TEST_CASE("a client that never reads its answer is cut, and the call to the upstream with it") {
    constexpr std::size_t kSize = 50 << 20;  // more than all sockets between them hold
    RecordingUpstream upstream([](const HttpMessage&) { return RecordingUpstream::ok(std::string(kSize, 'x')); });
    HttpRig rig(upstream, withLimits());
    RawClient client(rig.port());
    client.send(getRequest("/s1/a"));
    REQUIRE(upstream.waitForRequests(1));
    CHECK(timeOf([&] { CHECK(upstream.waitForEnded(1)); }) < kLong);
    CHECK(client.receiveUntilClose().size() < kSize);
}

TEST_CASE("a client that takes its answer slowly but steadily gets all of it") {
    // A socket tells that it has room again when more is gone than this client takes within kLimit.
    constexpr std::size_t kSize = 8 << 20;
    RecordingUpstream upstream([](const HttpMessage&) { return RecordingUpstream::ok(std::string(kSize, 'x')); });
    HttpRig rig(upstream, withLimits());
    const auto take = [&](std::size_t piece) {
        RawClient client(rig.port());
        client.send(getRequest("/s1/a"));
        std::size_t taken = 0;
        for (std::string bytes = "x"; !bytes.empty(); taken += bytes.size()) {
            std::this_thread::sleep_for(100ms);
            try {
                bytes = client.receiveSome(piece);
            } catch (const std::runtime_error&) {
                break;  // it was cut
            }
        }
        return taken;
    };
    CHECK(take(100'000) > kSize);
}

TEST_CASE("two hundred slow clients of all kinds are cut, and others are answered as before") {
    RecordingUpstream upstream([](const HttpMessage& request) {
        const bool big = request.startLine.find("/big") != std::string::npos;
        return RecordingUpstream::ok(std::string(big ? 1 << 20 : 2, 'x'));
    });
    HttpRig rig(upstream, withLimits());
    RequestLoad good(rig.port(), "GET /alive HTTP/1.1\r\nHost: g\r\n\r\n", 10);
    const std::string openings[] = {"", "G", "GET /s1/a HTTP/1.1\r\nHost: g\r\nX-Slow: ",
                                    post("Content-Length: 100\r\n"), postChunked("5\r\nab"), getRequest("/s1/a"),
                                    getRequest("/s1/big")};
    {
        std::vector<RawClient> slow;
        for (int i = 0; i < 200; ++i) {
            slow.emplace_back(rig.port());
            slow.back().send(openings[i % std::size(openings)]);
        }
        std::vector<std::chrono::steady_clock::duration> times;
        const auto end = std::chrono::steady_clock::now() + 2 * kLimit;
        RawClient probe(rig.port());
        while (std::chrono::steady_clock::now() < end) {
            times.push_back(timeOf([&] { CHECK(probe.exchange(getRequest("/alive")).status() == 200); }));
        }
        std::sort(times.begin(), times.end());
        CHECK(times[times.size() * 99 / 100] < kOthers);
        for (auto& client : slow) CHECK_NOTHROW(client.receiveUntilClose());  // all were cut
    }
    good.stop();
    for (const auto& failure : good.failures()) FAIL_CHECK(failure);
    CHECK(good.answers() > 0);
}
