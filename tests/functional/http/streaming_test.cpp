// Bodies pass through as they come, whatever their size and pace; memory does not grow with them.
#include <atomic>
#include <thread>

#include "functional/http/http_rig.hpp"
#include "support/catch.hpp"

using namespace weir::support;
using namespace weir::functional;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("a multipart body of 20 MB streams through without being held") {
    constexpr std::size_t kSize = 20 * kMiB;
    std::size_t taken = 0;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        while (taken < kSize) taken += connection.receiveSome(kSize - taken).size();
        connection.send(RecordingUpstream::ok("taken"));
        connection.receiveUntilClose();
    });
    HttpRig rig(upstream);
    RawClient client(rig.port());
    rig.settle();
    const auto before = rig.gateway().residentBytes();
    client.send(post("Content-Type: multipart/form-data; boundary=b\r\nContent-Length: " + std::to_string(kSize) +
                     "\r\n"));
    const std::string block(64 * 1024, 'x');
    for (std::size_t sent = 0; sent < kSize; sent += block.size()) client.send(block);
    CHECK(client.response().body == "taken");
    CHECK(taken == kSize);
#ifndef WEIR_SANITIZED  // memory of a sanitized process says nothing about the program in it
    CHECK(rig.gateway().residentBytes() < before + 4 * kMiB);
#else
    (void)before;
#endif
}

TEST_CASE("bodies of 255, 257 and 900 KiB pass whole") {
    RecordingUpstream upstream(echoBody());
    HttpRig rig(upstream);
    RawClient client(rig.port());
    for (const std::size_t kib : {255, 256, 257, 900}) {
        INFO(kib << " KiB");
        const std::string body(kib * 1024, 'x');
        const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
        client.send(post("Content-Type: application/json\r\n" + length, body));
        CHECK(client.response().body == body);
    }
}

TEST_CASE("each byte of a body that comes one by one is passed on before the next") {
    std::atomic<std::size_t> taken{0};
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        while (taken < 100) taken += connection.receiveSome(100).size();
        connection.send(RecordingUpstream::ok("taken"));
        connection.receiveUntilClose();
    });
    HttpRig rig(upstream);
    RawClient client(rig.port());
    client.send(post("Content-Length: 100\r\n"));
    for (std::size_t i = 1; i <= 100; ++i) {
        client.send("x");
        REQUIRE(eventually([&] { return taken == i; }));
    }
    CHECK(client.response().body == "taken");
}
