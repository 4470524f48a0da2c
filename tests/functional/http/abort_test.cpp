// Clients that leave in the middle cost nothing afterwards: no memory, no descriptor, no call that goes on for nobody.
#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kAllowedGrowth = 4 * kMiB;

std::string thirtyPercentOfAMegabyte() { return std::string(kMiB * 3 / 10, 'x'); }

const std::string kMultipart =
    "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: " + std::to_string(kMiB) + "\r\n";
const std::string kPart = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n";

// Takes heads and whatever follows, answers nothing.
void swallow(RecordingUpstream::Connection& connection) { connection.receiveUntilClose(); }

struct Upload {
    const char* name;
    std::string bytes;
};

std::vector<Upload> uploads() {
    const std::string part = thirtyPercentOfAMegabyte();
    char size[32];
    std::snprintf(size, sizeof size, "%zx\r\n", part.size());
    return {{"multipart", post(kMultipart, kPart + part)},
            {"chunked, between chunks", postChunked(size + part + "\r\n")},
            {"chunked, within a chunk", postChunked("100000\r\n" + part)}};
}

void checkMemory(HttpRig& rig, std::size_t before) {
#ifndef WEIR_SANITIZED  // memory of a sanitized process says nothing about the program in it
    INFO("before: " << before << ", now: " << rig.gateway().residentBytes());
    CHECK(eventually([&] { return rig.gateway().residentBytes() < before + kAllowedGrowth; }));
#else
    (void)rig, (void)before;
#endif
}

// Sends what the gateway takes, then resets.
void sendAndReset(RawClient& client, const std::string& bytes) {
    client.sendSome(bytes, std::chrono::seconds(1));
    client.resetOnClose();
    client.close();
}

}  // namespace

TEST_CASE("uploads that are reset one after the other leave nothing behind") {
    for (const auto& upload : uploads()) {
        INFO(upload.name);
        RecordingUpstream upstream(swallow);
        HttpRig rig(upstream);
        auto once = [&, n = std::size_t{0}]() mutable {
            RawClient client(rig.port());
            sendAndReset(client, upload.bytes);
            return upstream.waitForEnded(++n);  // the upstream's request is cancelled too
        };
        for (int i = 0; i < 10; ++i) REQUIRE(once());  // buffers that are kept for the next
        const auto before = rig.gateway().residentBytes();
        for (int i = 0; i < 60; ++i) REQUIRE(once());
        checkMemory(rig, before);
        CHECK(upstream.requests().empty());
    }
}

TEST_CASE("a hundred uploads at once that are reset leave nothing behind") {
    for (const auto& upload : uploads()) {
        INFO(upload.name);
        RecordingUpstream upstream(swallow);
        HttpRig rig(upstream);
        auto round = [&] {
            const auto ended = upstream.ended();
            std::vector<RawClient> clients;
            for (int i = 0; i < 100; ++i) clients.emplace_back(rig.port());
            for (auto& client : clients) client.sendSome(upload.bytes, std::chrono::seconds(1));
            for (auto& client : clients) client.resetOnClose();
            clients.clear();
            return upstream.waitForEnded(ended + 100);
        };
        REQUIRE(round());
        const auto before = rig.gateway().residentBytes();
        REQUIRE(round());
        REQUIRE(round());
        checkMemory(rig, before);
    }
}

TEST_CASE("clients that reset while the answer streams cancel it") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
        for (;;) connection.send(chunk);  // until the gateway closes
    });
    HttpRig rig(upstream);
    auto round = [&] {
        const auto ended = upstream.ended();
        std::vector<RawClient> clients;
        for (int i = 0; i < 20; ++i) clients.emplace_back(rig.port());
        for (auto& client : clients) client.send(getRequest("/s1/a"));
        for (auto& client : clients) client.receiveThrough("xxx");
        for (auto& client : clients) client.resetOnClose();
        clients.clear();
        return upstream.waitForEnded(ended + 20);
    };
    REQUIRE(round());
    const auto before = rig.gateway().residentBytes();
    for (int i = 0; i < 4; ++i) REQUIRE(round());
    checkMemory(rig, before);
}

TEST_CASE("a client that resets while its request waits for an answer cancels the call") {
    RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        while (connection.next()) {
        }
    });
    RigOptions options;
    options.timeoutMs = 60'000;
    HttpRig rig(upstream, options);
    for (std::size_t i = 1; i <= 20; ++i) {
        RawClient client(rig.port());
        client.send(post("Content-Length: 4\r\n", "body"));
        REQUIRE(upstream.waitForRequests(i));
        client.resetOnClose();
        client.close();
        REQUIRE(upstream.waitForEnded(i));
    }
}
