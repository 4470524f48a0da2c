// Where two things happen at once, or one in place of the other: answers before the request is whole, bad answers,
// retries with a body, slow peers on one side while the other side waits.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

constexpr std::size_t kMiB = 1 << 20;

std::string post(const std::string& fields, const std::string& body = "", const std::string& target = "/http/a") {
    return "POST " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body;
}

std::string postOf(std::size_t length) { return post("Content-Length: " + std::to_string(length) + "\r\n"); }

// Listens and never accepts; its queue is full, so that the next connect hears nothing.
class DeafListener {
public:
    DeafListener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        REQUIRE(bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
        REQUIRE(listen(fd_, 0) == 0);
        REQUIRE(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
        port_ = ntohs(address.sin_port);
        filler_ = std::make_unique<RawClient>(port_);
    }
    ~DeafListener() { close(fd_); }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

private:
    int fd_;
    int port_ = 0;
    std::unique_ptr<RawClient> filler_;
};

// Stops the process until SIGCONT: what comes meanwhile is there at once then, in the order in which it came.
void holdStill(ChildProcess& process) {
    process.signal(SIGSTOP);
    const auto stopped = [](const std::filesystem::path& thread) {
        std::ifstream file(thread / "stat");
        std::string line;
        std::getline(file, line);
        return line.find(") T ") != line.npos;
    };
    REQUIRE(eventually([&] {
        const std::filesystem::directory_iterator threads("/proc/" + std::to_string(process.pid()) + "/task");
        return std::ranges::all_of(threads, stopped);
    }));
}

}  // namespace

TEST_CASE("an answer whose head is well formed but not acceptable is a 502 and leaves nothing in the error reply") {
    struct Row {
        const char* name;
        const char* bytes;
    };
    const Row rows[] = {
        {"unknown coding", "HTTP/1.1 200 OK\r\nX-Bad: 1\r\nTransfer-Encoding: gzip\r\n\r\n"},
        {"both framings", "HTTP/1.1 200 OK\r\nX-Bad: 1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {"two lengths", "HTTP/1.1 200 OK\r\nX-Bad: 1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"},
        {"an upgrade nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nX-Bad: 1\r\n\r\n"},
        {"an interim answer with a body", "HTTP/1.1 103 Early Hints\r\nX-Bad: 1\r\nContent-Length: 3\r\n\r\nabc"},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        RecordingUpstream upstream([&](const HttpMessage&) { return row.bytes; });
        GatewayProcess gateway(proxyTo(upstream.address()));
        auto answer = get(gateway.port(), "/http/a");
        CHECK(answer.status() == 502);
        CHECK_FALSE(answer.has("X-Bad"));
        CHECK_THAT(answer.body, Catch::Contains("-103"));
    }
}

TEST_CASE("a connect that times out is a 504 whether the request has a body or not") {
    DeafListener deaf;
    GatewayProcess gateway(proxyTo(deaf.address()), {"--upstream.connectTimeout=100ms"});
    CHECK(get(gateway.port(), "/http/a").status() == 504);
    CHECK(RawClient(gateway.port()).exchange(post("Content-Length: 3\r\n", "abc")).status() == 504);
    CHECK(RawClient(gateway.port()).exchange(post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n")).status() ==
          504);
}

TEST_CASE("an upstream that pauses, with the body as with the answer, is no timeout of the client") {
    constexpr std::size_t kSize = 32 * kMiB;
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kSize + 3) + "\r\n\r\n");
        connection.send(std::string(kSize, 'x'));
        std::this_thread::sleep_for(std::chrono::milliseconds(4000));
        connection.receive(kSize);
        connection.send("end");
    });
    GatewayProcess gateway(proxyTo(upstream.address()), {"--server.bodyTimeout=3s"});
    RawClient client(gateway.port());
    client.send(postOf(kSize));
    std::thread sender([&] {
        try {
            client.send(std::string(kSize, 'b'));
        } catch (const std::exception&) {
        }  // the gateway has cut it: what is received tells
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // its socket fills up, for less than the timeout
    std::string end;
    try {
        client.receiveThrough("\r\n\r\n");
        client.receive(kSize);
        end = client.receive(3);
    } catch (const std::exception& e) {
        end = e.what();
    }
    sender.join();
    CHECK(end == "end");
}

TEST_CASE("a client that is slow to read is no timeout of an upstream that has taken the whole request") {
    constexpr std::size_t kSize = 8 * kMiB;
    Gate taken;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kSize) + "\r\n\r\n");
        const std::string body(kSize, 'x');
        const std::size_t sent = connection.sendSome(body, std::chrono::milliseconds(100));
        for (std::size_t left = kSize; left > 0; left -= 65536) connection.receive(65536);
        taken.open();
        connection.send(std::string_view(body).substr(sent));
    });
    GatewayProcess gateway(proxyTo(upstream.address()), {"--upstream.bodyTimeout=3s"});
    RawClient client(gateway.port());
    client.send(postOf(kSize));
    client.send(std::string(kSize, 'b'));
    REQUIRE(taken.wait());
    std::this_thread::sleep_for(std::chrono::milliseconds(4000));
    client.receiveThrough("\r\n\r\n");
    CHECK(client.receive(kSize) == std::string(kSize, 'x'));
}

TEST_CASE("a whole answer to a long body that is still coming announces that the connection closes") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        connection.receiveUntilClose();
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send(postOf(kMiB) + "begin");
    auto answer = client.response();
    CHECK(answer.status() == 413);
    CHECK(answer.body == "big");
    CHECK(answer.field("Connection") == "close");
    CHECK(client.closedByPeer());
    CHECK(upstream.waitForEnded(1));
}

TEST_CASE("a whole answer to a short body that is still coming keeps the connection in step") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        auto head = connection.receiveThrough("\r\n\r\n");
        connection.send(RecordingUpstream::ok(head.substr(0, head.find(' '))));
        connection.receiveUntilClose();
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send(postOf(30) + "GET /http/hidden");
    CHECK(client.response().body == "POST");
    client.send(std::string(14, 'x') + "GET /http/b HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.response().body == "GET");
    CHECK(upstream.connections() == 2);
}

TEST_CASE("a client that waits for 100 Continue gets it once, and only when its body is wanted") {
    RecordingUpstream upstream([](const HttpMessage& r) { return RecordingUpstream::ok(r.body); });
    GatewayProcess gateway(proxyTo(upstream.address()));
    SECTION("wanted") {
        RawClient client(gateway.port());
        for (int i = 0; i < 2; ++i) {
            client.send(post("Expect: 100-continue\r\nContent-Length: 4\r\n"));
            CHECK(client.receiveThrough("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
            client.send("bo");
            client.send("dy");
            CHECK(client.response().body == "body");
        }
    }
    SECTION("not wanted: nobody knows whether the body comes, so the connection closes") {
        RawClient client(gateway.port());
        auto answer = client.exchange(post("Expect: 100-continue\r\nContent-Length: 4\r\n", "", "/elsewhere"));
        CHECK(answer.status() == 404);
        CHECK(answer.field("Connection") == "close");
        CHECK(client.closedByPeer());
    }
}

TEST_CASE("an upstream that answers before it was sent a body that waits for 100 Continue ends the connection") {
    // The answer may overtake the 100 Continue; whichever comes first, what follows is never taken for the body.
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        for (;;) {
            auto head = connection.receiveThrough("\r\n\r\n");
            connection.send(RecordingUpstream::ok("ok"));
            if (head.rfind("POST", 0) == 0) connection.receiveUntilClose();
        }
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    for (int i = 0; i < 100; ++i) {
        RawClient client(gateway.port());
        CHECK(client.exchange("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200);
        auto answer = client.exchange(post("Expect: 100-continue\r\nContent-Length: 4\r\n"));
        if (answer.status() == 100) continue;
        CHECK(answer.status() == 200);
        CHECK(answer.field("Connection") == "close");
    }
}

TEST_CASE("chunk sizes padded with blanks do not end a long answer") {
    constexpr int kChunks = 3000;
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < kChunks; ++i) connection.send("1" + std::string(40, ' ') + "\r\nx\r\n");
        connection.send("0\r\n\r\n");
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    CHECK(get(gateway.port(), "/http/a").body == std::string(kChunks, 'x'));
}

TEST_CASE("a faulty chunk behind the head is a 400 before the answer and leaves the upstream without a whole request") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send(post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"));
    REQUIRE(eventually([&] { return upstream.connections() == 1; }));
    client.send("nonsense\r\n");
    auto answer = client.response();
    CHECK(answer.status() == 400);
    CHECK(answer.field("Connection") == "close");
    CHECK(client.closedByPeer());
    CHECK(upstream.waitForEnded(1));
    CHECK(upstream.requests().empty());
}

TEST_CASE("a body that stops coming is a 408, a head that stops coming too") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()), {"--server.bodyTimeout=200ms", "--server.headerTimeout=200ms"});
    CHECK(RawClient(gateway.port()).exchange(postOf(10) + "half").status() == 408);
    CHECK(RawClient(gateway.port()).exchange("GET /http/a HTTP/1.1\r\n").status() == 408);
    CHECK(upstream.requests().empty());
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a small body that comes with its head survives that the pooled connection is stale for a safe method only") {
    // The upstream closes as it gets the second request: nothing of it was answered.
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send(RecordingUpstream::ok("once"));
        connection.receiveThrough("\r\n\r\n");
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    for (int i = 0; i < 4; ++i) CHECK(client.exchange("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n").body == "once");
    CHECK(client.exchange(post("Content-Length: 3\r\n", "abc")).status() == 502);
}

TEST_CASE("a request whose pooled connection closes before it is sent goes on a fresh one, whatever its method") {
    Gate closing;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send(RecordingUpstream::ok("ok"));
        closing.wait();
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    REQUIRE(client.exchange("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200);
    // The gateway sees both at once, the request as the older event.
    holdStill(gateway.process());
    struct Row {
        std::string request, rest;
    };
    const Row row = GENERATE(Row{post("Content-Length: 0\r\n"), ""}, Row{post("Content-Length: 3\r\n", "abc"), ""},
                             Row{post("Content-Length: 3\r\n", "a"), "bc"},
                             Row{post("Transfer-Encoding: chunked\r\n"), "3\r\nabc\r\n0\r\n\r\n"});
    INFO(row.request);
    client.send(row.request);
    closing.open();
    REQUIRE(upstream.waitForEnded(1));
    gateway.process().signal(SIGCONT);
    REQUIRE(eventually([&] { return upstream.connections() == 2; }));
    client.send(row.rest);
    CHECK(client.response().status() == 200);
    const auto requests = upstream.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[1].body == (row.request.find("Length: 0") == row.request.npos ? "abc" : ""));
}

TEST_CASE("answers that wait to be written do not count towards maxRequests") {
    RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()), {"--server.maxRequests=1", "--server.threads=1"});
    const std::string elsewhere = "GET /elsewhere HTTP/1.1\r\nHost: a\r\n\r\n";
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 8; ++i) {
        clients.push_back(std::make_unique<RawClient>(gateway.port()));
        REQUIRE(clients.back()->exchange(elsewhere).status() == 404);
    }
    holdStill(gateway.process());  // all come at once then
    for (const auto& client : clients) client->send(elsewhere);
    gateway.process().signal(SIGCONT);
    for (const auto& client : clients) CHECK(client->response().status() == 404);
}

TEST_CASE("bodies stream both ways at once through chunks of any size") {
    constexpr std::size_t kSize = 4 * kMiB;
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (;;) {  // an echo, chunk by chunk
            auto line = connection.receiveThrough("\r\n");
            auto size = std::stoul(line, nullptr, 16);
            connection.send(line + connection.receive(size + 2));
            if (size == 0) return;
        }
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    RawClient client(gateway.port());
    client.send(post("Transfer-Encoding: chunked\r\n"));
    std::thread sender([&] {
        for (std::size_t sent = 0, size = 1; sent < kSize; size = size * 7 % 40009) {
            char line[32];
            std::snprintf(line, sizeof line, "%zx;x=y\r\n", size);
            client.send(line + std::string(size, static_cast<char>('a' + size % 26)) + "\r\n");
            sent += size;
        }
        client.send("0\r\nTrailer: x\r\n\r\n");
    });
    auto answer = client.response();
    sender.join();
    CHECK(answer.body.size() >= kSize);
    std::string expected;
    for (std::size_t size = 1; expected.size() < kSize; size = size * 7 % 40009)
        expected += std::string(size, static_cast<char>('a' + size % 26));
    CHECK(answer.body == expected);
}

TEST_CASE("clients that reset at any moment leave the gateway serving and no descriptor behind") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        for (;;) {
            connection.receiveThrough("\r\n\r\n");
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n");
            connection.send(std::string(0x10000, 'x'));
            connection.send("\r\n0\r\n\r\n");
        }
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    auto before = gateway.descriptors();
    const std::string bytes = post("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n") +
                              "GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n" + postOf(100) + std::string(50, 'x');
    for (std::size_t cut = 1; cut <= bytes.size(); cut += 3) {
        RawClient client(gateway.port());
        client.send(bytes.substr(0, cut));
        if (cut % 2) client.resetOnClose();
        if (cut % 4 == 3) client.sendSome("", std::chrono::milliseconds(1));
    }
    CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    CHECK(eventually([&] { return gateway.descriptors() <= before + 8 + kThreadsOwn; }));  // 8: what the pool keeps
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a path that the rules made never ends the request line") {
    RecordingUpstream upstream;
    std::string yaml = proxyTo(upstream.address());
    const std::string handle = "handle: {contextPath: /http}";
    yaml.replace(yaml.find(handle), handle.size(),
                 R"(handle: {contextPath: /http, addPrefix: "/a b HTTP/1.1\r\nX-Evil: 1\r\n"})");
    GatewayProcess gateway(yaml);
    CHECK(get(gateway.port(), "/http/x").status() == 200);
    CHECK(upstream.requests().at(0).startLine == "GET /a%20b%20HTTP/1.1%0D%0AX-Evil:%201%0D%0A/x HTTP/1.1");
    CHECK_FALSE(upstream.requests().at(0).has("X-Evil"));
}

TEST_CASE("whatever both sides do at once, the gateway lives on and ends in order") {
    constexpr int kClients = 6;
    constexpr int kRounds = 40;
    std::atomic<unsigned> seed{1};
    // Answers early, late, in every framing, breaks off anywhere.
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        std::minstd_rand random(seed++);
        for (;;) {
            auto head = connection.receiveThrough("\r\n\r\n");
            const bool body = head.rfind("POST", 0) == 0;
            const bool chunked = head.find("chunked") != std::string::npos;
            if (random() % 8 == 0) return;
            if (body && random() % 3 != 0) {
                if (chunked) connection.receiveThrough("0\r\n\r\n");
                else connection.receive(std::stoul(head.substr(head.find("Content-Length: ") + 16)));
            }
            const std::string content(random() % 3 == 0 ? random() % 300000 : random() % 100, 'x');
            std::string answer = random() % 8 == 0 ? "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" : "";
            const auto framing = random() % 4;
            if (framing == 0) answer += "HTTP/1.1 200 OK\r\n\r\n" + content;
            else if (framing == 1 || content.empty()) answer += RecordingUpstream::ok(content);
            else {
                char line[32];
                std::snprintf(line, sizeof line, "%zx\r\n", content.size());
                answer += "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + (line + content) + "\r\n0\r\n\r\n";
            }
            if (random() % 6 == 0) answer.resize(random() % answer.size());
            if (random() % 10 == 0) answer += "surplus";
            if (random() % 4 == 0) connection.resetOnClose();
            connection.send(answer);
            if (framing == 0 || random() % 8 == 0) return;
        }
    });
    ProxyConfig config;
    config.upstreams = {{upstream.address()}};
    config.timeoutMs = 200;
    GatewayProcess gateway(config.yaml(), {"--server.threads=2", "--server.headerTimeout=200ms",
                                           "--server.bodyTimeout=200ms", "--server.keepAliveTimeout=200ms",
                                           "--upstream.bodyTimeout=200ms"});
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.emplace_back([&, i] {
            std::minstd_rand random(static_cast<unsigned>(1000 + i));
            for (int round = 0; round < kRounds; ++round) {
                try {
                    RawClient client(gateway.port());
                    std::string bytes;
                    for (auto n = random() % 4 + 1; n > 0; --n) {
                        const std::string content(random() % 4 == 0 ? random() % 200000 + 1 : random() % 50 + 1, 'b');
                        char line[32];
                        std::snprintf(line, sizeof line, "%zx\r\n", content.size());
                        const std::string expect = random() % 4 == 0 ? "Expect: 100-continue\r\n" : "";
                        const std::string target = random() % 6 == 0 ? "/elsewhere" : "/http/a";
                        switch (random() % 4) {
                            case 0: bytes += "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"; break;
                            case 1: bytes += "HEAD " + target + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"; break;
                            case 2:
                                bytes += post(expect + "Content-Length: " + std::to_string(content.size()) + "\r\n",
                                              content, target);
                                break;
                            case 3:
                                bytes += post(expect + "Transfer-Encoding: chunked\r\n",
                                              line + content + "\r\n0\r\n\r\n", target);
                        }
                    }
                    if (random() % 3 == 0) bytes.resize(random() % bytes.size());
                    if (random() % 3 == 0) client.resetOnClose();
                    while (!bytes.empty()) {
                        const std::size_t part = std::min<std::size_t>(bytes.size(), random() % 100000 + 1);
                        client.sendSome(std::string_view(bytes).substr(0, part), std::chrono::milliseconds(20));
                        bytes.erase(0, part);
                    }
                    if (random() % 2 == 0) client.receiveSome(random() % 10000 + 1);
                    if (random() % 4 == 0) client.receiveUntilClose();
                } catch (const std::exception&) {
                }  // cut, as it deserves
            }
        });
    }
    for (auto& client : clients) client.join();
    CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    CHECK(gateway.stop() == 0);
}
