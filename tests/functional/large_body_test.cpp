// Bodies stream: whatever their size, the gateway's memory stays where it was.
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kAllowedGrowth = 8 * kMiB;

class Sha256 {
public:
    Sha256() { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
    void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
    std::string digest() {
        std::array<unsigned char, 32> out{};
        EVP_DigestFinal_ex(context_.get(), out.data(), nullptr);
        return {out.begin(), out.end()};
    }

private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

// The same bytes for each pass, no two blocks alike: a block lost, doubled or moved changes the digest.
class Content {
public:
    explicit Content(std::size_t size) : left_(size) {}
    // The next block; empty at the end.
    std::string_view next() {
        for (std::size_t i = 0; i < block_.size(); i += sizeof state_) {
            state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
            std::memcpy(block_.data() + i, &state_, sizeof state_);
        }
        auto size = std::min(left_, block_.size());
        left_ -= size;
        return {block_.data(), size};
    }
    static std::string digest(std::size_t size) {
        Sha256 sum;
        Content content(size);
        for (auto block = content.next(); !block.empty(); block = content.next()) sum.add(block);
        return sum.digest();
    }

private:
    std::size_t left_;
    std::uint64_t state_ = 88172645463325252u;
    std::string block_ = std::string(64 * 1024, '\0');
};

// Reads `size` bytes and returns their digest.
std::string digestOf(WireConnection& connection, std::size_t size) {
    Sha256 sum;
    while (size > 0) {
        auto bytes = connection.receiveSome(size);
        if (bytes.empty()) throw std::runtime_error("closed " + std::to_string(size) + " bytes too early");
        sum.add(bytes);
        size -= bytes.size();
    }
    return sum.digest();
}

void sendContent(WireConnection& connection, std::size_t size) {
    Content content(size);
    for (auto block = content.next(); !block.empty(); block = content.next()) connection.send(block);
}

// Memory of a sanitized process says nothing about the program in it.
void checkGrowth(const GatewayProcess& gateway, std::size_t before) {
#ifndef WEIR_SANITIZED
    auto now = gateway.residentBytes();
    INFO("resident memory went from " << before << " to " << now);
    CHECK(now < before + kAllowedGrowth);
#else
    (void)gateway, (void)before;
#endif
}

// An upstream that sends `size` bytes for each request.
RecordingUpstream::Serve download(std::size_t size) {
    return [size](RecordingUpstream::Connection& connection) {
        while (connection.next()) {
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
            sendContent(connection, size);
        }
    };
}

// After one small request, so that growth is not first use.
std::size_t residentAfterWarmUp(GatewayProcess& gateway) {
    get(gateway.port(), "/elsewhere");
    return gateway.residentBytes();
}

void down(std::size_t size) {
    RecordingUpstream upstream(download(size));
    GatewayProcess gateway(proxyTo(upstream.address()));
    auto before = residentAfterWarmUp(gateway);
    RawClient client(gateway.port());
    client.send("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_THAT(client.receiveThrough("\r\n\r\n"), Catch::Contains("Content-Length: " + std::to_string(size)));
    CHECK(digestOf(client, size) == Content::digest(size));
    checkGrowth(gateway, before);
}

void up(std::size_t size) {
    std::string seen;
    RecordingUpstream upstream([&seen, size](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        seen = digestOf(connection, size);
        connection.send(RecordingUpstream::ok("taken"));
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    auto before = residentAfterWarmUp(gateway);
    RawClient client(gateway.port());
    client.send("POST /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
    sendContent(client, size);
    CHECK(client.response().body == "taken");
    REQUIRE(upstream.waitForEnded(1));
    CHECK(seen == Content::digest(size));
    checkGrowth(gateway, before);
}

// How long a stalled connection takes nothing before it counts as stalled.
constexpr std::chrono::milliseconds kStalled{500};

}  // namespace

TEST_CASE("64 MiB down arrive unchanged") { down(64 * kMiB); }
TEST_CASE("64 MiB up arrive unchanged") { up(64 * kMiB); }
// By hand: functional_test "[.big]"
TEST_CASE("1 GiB down arrives unchanged", "[.big]") { down(1024 * kMiB); }
TEST_CASE("1 GiB up arrives unchanged", "[.big]") { up(1024 * kMiB); }

TEST_CASE("a client that does not read stops the upstream, not the gateway's memory") {
    constexpr std::size_t kSize = 64 * kMiB;
    Gate stalled;
    std::atomic<std::size_t> taken{0};
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.next();
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kSize) + "\r\n\r\n");
        Content content(kSize);
        for (auto block = content.next(); !block.empty(); block = content.next()) {
            auto sent = connection.sendSome(block, kStalled);
            taken += sent;
            if (sent == block.size()) continue;
            stalled.open();
            connection.send(block.substr(sent));
        }
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    auto before = residentAfterWarmUp(gateway);
    RawClient client(gateway.port());
    client.send("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(stalled.wait());
    CHECK(taken < kSize / 2);  // the rest of it is what sockets hold
    checkGrowth(gateway, before);
    CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    client.receiveThrough("\r\n\r\n");
    CHECK(digestOf(client, kSize) == Content::digest(kSize));
    checkGrowth(gateway, before);
}

TEST_CASE("an upstream that does not read stops the client, not the gateway's memory") {
    constexpr std::size_t kSize = 64 * kMiB;
    Gate read;
    std::string seen;
    RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        connection.receiveThrough("\r\n\r\n");
        read.wait();
        seen = digestOf(connection, kSize);
        connection.send(RecordingUpstream::ok("taken"));
    });
    GatewayProcess gateway(proxyTo(upstream.address()));
    auto before = residentAfterWarmUp(gateway);
    RawClient client(gateway.port());
    client.send("POST /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(kSize) + "\r\n\r\n");
    Content content(kSize);
    std::size_t sent = 0;
    auto block = content.next();
    for (std::size_t part = block.size(); part == block.size(); block = content.next()) {
        part = client.sendSome(block, kStalled);
        sent += part;
        if (part < block.size()) {
            block.remove_prefix(part);
            break;
        }
    }
    CHECK(sent < kSize / 2);
    checkGrowth(gateway, before);
    read.open();
    for (; !block.empty(); block = content.next()) client.send(block);
    CHECK(client.response().body == "taken");
    REQUIRE(upstream.waitForEnded(1));
    CHECK(seen == Content::digest(kSize));
}
