// Switching protocols: what asks for it, what may not, and the tunnel behind it.
#include <thread>

#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

const std::string kSwitching =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Kept: yes\r\n\r\n";

std::string upgradeRequest(const std::string& fields) {
    return getRequest("/s1/ws", "X-Option: upgrade\r\n" + fields);
}

const std::string kUpgrade = upgradeRequest("Connection: Upgrade\r\nUpgrade: websocket\r\n");

// Answers a request that asks for it with 101, any other with 200, then repeats what comes until it has seen "bye".
void echoServer(RecordingUpstream::Connection& connection) {
    const auto request = connection.next();
    if (!request) return;
    if (!request->has("Upgrade")) return connection.send(RecordingUpstream::ok("plain"));
    connection.send(kSwitching);
    for (std::string seen; seen.find("bye") == seen.npos;) {
        const std::string bytes = connection.receiveSome(65536);
        if (bytes.empty()) return;
        connection.send(bytes);
        seen += bytes;
    }
}

RigOptions withPlugins() {
    RigOptions options;
    options.guard = true;
    return options;
}

// A WebSocket close frame (RFC 6455 5.5.1) from a server.
std::string closeFrame(int code, const std::string& reason) {
    std::string payload;
    if (code) payload = {static_cast<char>(code >> 8), static_cast<char>(code & 255)};
    payload += reason;
    return std::string("\x88", 1) + static_cast<char>(payload.size()) + payload;
}

}  // namespace

TEST_CASE("an upgrade that a plugin allows becomes a tunnel, however the client spells it (C13)") {
    const char* rows[] = {
        "Connection: Upgrade\r\nUpgrade: WebSocket\r\n",
        "Connection: upgrade\r\nUpgrade: WEBSOCKET\r\n",
        "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n",
        "Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket, foo\r\n",
    };
    RecordingUpstream upstream{RecordingUpstream::Serve(echoServer)};
    HttpRig rig(upstream, withPlugins());
    for (const char* fields : rows) {
        INFO(fields);
        RawClient client(rig.port());
        client.send(upgradeRequest(fields));
        const std::string head = client.receiveThrough("\r\n\r\n");
        CHECK(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
        CHECK(head.find("X-Kept: yes\r\n") != head.npos);
        CHECK(head.find("Upgrade: websocket\r\n") != head.npos);
        CHECK(head.find("Content-Length") == head.npos);
        CHECK(head.find("Transfer-Encoding") == head.npos);
        client.send("GET / HTTP/1.1\r\n\r\n");  // no request any more
        CHECK(client.receive(18) == "GET / HTTP/1.1\r\n\r\n");
        client.send("bye");
        CHECK(client.receive(3) == "bye");
        CHECK(client.closedByPeer());
    }
}

TEST_CASE("what may not switch protocols goes as a plain request, without a tunnel (C13)") {
    struct Row {
        const char* what;
        std::string request;
    };
    const Row rows[] = {
        {"POST", "POST /s1/ws HTTP/1.1\r\nHost: g\r\nX-Option: upgrade\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                 "Content-Length: 0\r\n\r\n"},
        {"HTTP/1.0", "GET /s1/ws HTTP/1.0\r\nHost: g\r\nX-Option: upgrade\r\nConnection: Upgrade\r\n"
                     "Upgrade: websocket\r\n\r\n"},
        {"no plugin allows it", getRequest("/s1/ws", "X-Option: none\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n")},
        {"not named by Connection", upgradeRequest("Upgrade: websocket\r\n")},
        {"no Upgrade", upgradeRequest("Connection: Upgrade\r\n")},
        {"with a body", upgradeRequest("Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n") + "x"},
    };
    RecordingUpstream upstream{RecordingUpstream::Serve(echoServer)};
    HttpRig rig(upstream, withPlugins());
    for (const Row& row : rows) {
        INFO(row.what);
        RawClient client(rig.port());
        const auto answer = client.exchange(row.request);
        CHECK(answer.status() == 200);
        CHECK(answer.body == "plain");
        CHECK_FALSE(upstream.requests().back().has("Upgrade"));
    }
}

TEST_CASE("a 101 that nobody asked for is a bad reply") {
    RecordingUpstream upstream{[](const HttpMessage&) { return kSwitching + "smuggled"; }};
    HttpRig rig(upstream, withPlugins());
    RawClient client(rig.port());
    const auto answer = client.exchange(getRequest("/s1/a"));
    CHECK(answer.status() == 502);
    CHECK(answer.raw.find("smuggled") == answer.raw.npos);
}

TEST_CASE("an upstream that declines the upgrade answers as to any request") {
    RecordingUpstream upstream{[](const HttpMessage&) {
        return "HTTP/1.1 426 Upgrade Required\r\nUpgrade: foo\r\nContent-Length: 2\r\n\r\nno";
    }};
    HttpRig rig(upstream, withPlugins());
    RawClient client(rig.port());
    const auto answer = client.exchange(kUpgrade);
    CHECK(answer.status() == 426);
    CHECK(answer.body == "no");
    CHECK(client.exchange(getRequest("/s1/b")).status() == 426);  // on the same connection
}

TEST_CASE("bytes on both heels of the handshake are the tunnel's first") {
    RecordingUpstream upstream{RecordingUpstream::Serve([](RecordingUpstream::Connection& connection) {
        if (!connection.next()) return;
        connection.send(kSwitching + "hello");
        CHECK(connection.receive(5) == "early");
        connection.send("end");
    })};
    HttpRig rig(upstream, withPlugins());
    RawClient client(rig.port());
    client.send(kUpgrade + "early");
    client.receiveThrough("\r\n\r\n");
    CHECK(client.receive(8) == "helloend");
    CHECK(client.closedByPeer());
}

TEST_CASE("close frames pass byte by byte, and a close stays a close (C11)") {
    struct Row {
        int code;
        const char* reason;
    };
    const Row rows[] = {{4400, "bye"}, {1000, ""}, {1001, ""}, {1011, "oops"}, {0, ""}};
    for (const Row& row : rows) {
        INFO(row.code);
        const std::string frame = closeFrame(row.code, row.reason);
        SECTION("from the upstream, " + std::to_string(row.code)) {
            RecordingUpstream upstream{RecordingUpstream::Serve([&](RecordingUpstream::Connection& connection) {
                if (!connection.next()) return;
                connection.send(kSwitching + frame);
            })};
            HttpRig rig(upstream, withPlugins());
            RawClient client(rig.port());
            client.send(kUpgrade);
            client.receiveThrough("\r\n\r\n");
            CHECK(client.receiveUntilClose() == frame);
        }
        SECTION("from the client, " + std::to_string(row.code)) {
            std::string seen;
            RecordingUpstream upstream{RecordingUpstream::Serve([&](RecordingUpstream::Connection& connection) {
                if (!connection.next()) return;
                connection.send(kSwitching);
                seen = connection.receiveUntilClose();
            })};
            {
                HttpRig rig(upstream, withPlugins());
                RawClient client(rig.port());
                client.send(kUpgrade);
                client.receiveThrough("\r\n\r\n");
                client.send(frame);
                client.close();
                CHECK(upstream.waitForEnded(1));
            }
            CHECK(seen == frame);
        }
    }
}

TEST_CASE("each side of a tunnel may close its own and still listen") {
    RecordingUpstream upstream{RecordingUpstream::Serve([](RecordingUpstream::Connection& connection) {
        if (!connection.next()) return;
        connection.send(kSwitching);
        const std::string all = connection.receiveUntilClose();  // the client has closed its side
        connection.send("got " + all);
    })};
    HttpRig rig(upstream, withPlugins());
    RawClient client(rig.port());
    client.send(kUpgrade);
    client.receiveThrough("\r\n\r\n");
    client.send("all");
    client.shutdownWrite();
    CHECK(client.receiveUntilClose() == "got all");
}

TEST_CASE("a reset of one side of a tunnel ends the other") {
    RecordingUpstream upstream{RecordingUpstream::Serve(echoServer)};
    HttpRig rig(upstream, withPlugins());
    RawClient client(rig.port());
    client.send(kUpgrade);
    client.receiveThrough("\r\n\r\n");
    client.resetOnClose();
    client.close();
    CHECK(upstream.waitForEnded(1));
}

TEST_CASE("a tunnel carries more than buffers hold, both ways at once") {
    RecordingUpstream upstream{RecordingUpstream::Serve(echoServer)};
    HttpRig rig(upstream, withPlugins());
    RawClient client(rig.port());
    client.send(kUpgrade);
    client.receiveThrough("\r\n\r\n");
    const std::string block(1 << 20, 'x');
    for (int i = 0; i < 4; ++i) {
        std::thread sender([&] { client.send(block); });
        std::string back;
        while (back.size() < block.size()) back += client.receiveSome(block.size() - back.size());
        sender.join();
        CHECK((back == block));
    }
    client.send("bye");
    CHECK(client.receiveUntilClose() == "bye");
}

TEST_CASE("a tunnel in which both are silent is closed after tunnelTimeout, and not before") {
    RigOptions options = withPlugins();
    options.arguments = {"--server.tunnelTimeout=300ms", "--server.bodyTimeout=100ms", "--upstream.bodyTimeout=100ms"};
    RecordingUpstream upstream{RecordingUpstream::Serve(echoServer)};
    HttpRig rig(upstream, options);
    RawClient client(rig.port());
    client.send(kUpgrade);
    client.receiveThrough("\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // longer than the others
    client.send("x");
    CHECK(client.receive(1) == "x");
    CHECK(client.closedByPeer());
    CHECK(upstream.waitForEnded(1));
}

TEST_CASE("a plugin can have the upstream get the client's Host") {
    RecordingUpstream upstream;
    HttpRig rig(upstream, withPlugins());
    get(rig.port(), "/s1/a");
    CHECK(upstream.requests().back().field("Host") == upstream.address());
    RawClient client(rig.port());
    client.exchange("GET /s1/a HTTP/1.1\r\nHost: shop.test:81\r\nX-Option: host\r\n\r\n");
    CHECK(upstream.requests().back().field("Host") == "shop.test:81");
}
