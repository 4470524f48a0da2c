#include "net/socket.hpp"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>

#include "net/acceptor.hpp"
#include "probe.hpp"

namespace weir::net {

namespace {

sockaddr_storage addressOf(int family, const char* text, std::uint16_t port) {
    sockaddr_storage storage{};
    storage.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
        v4.sin_port = htons(port);
        REQUIRE(::inet_pton(family, text, &v4.sin_addr) == 1);
    } else {
        auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
        v6.sin6_port = htons(port);
        REQUIRE(::inet_pton(family, text, &v6.sin6_addr) == 1);
    }
    return storage;
}

Endpoint loopback(std::uint16_t port) { return resolve("127.0.0.1", port).value().front(); }

}  // namespace

TEST_CASE("a peer's address is its number without port and brackets") {
    struct Row {
        int family;
        const char* address;
        const char* text;
    };
    const Row row = GENERATE(values<Row>({
        {AF_INET, "127.0.0.1", "127.0.0.1"},
        {AF_INET, "255.255.255.255", "255.255.255.255"},
        {AF_INET6, "::1", "::1"},
        {AF_INET6, "2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:1111:2222:3333:4444:5555:6666"},
        {AF_INET6, "::ffff:10.1.2.3", "10.1.2.3"},
    }));
    const PeerAddress peer(addressOf(row.family, row.address, 4711));
    CHECK(peer.text() == row.text);
    CHECK(peer.port() == 4711);
}

TEST_CASE("a peer without an internet address has an empty text") {
    CHECK(PeerAddress().text().empty());
    sockaddr_storage local{};
    local.ss_family = AF_UNIX;
    CHECK(PeerAddress(local).text().empty());
    CHECK(sizeof(PeerAddress) == 48);
}

TEST_CASE("literals resolve to themselves") {
    struct Row {
        const char* host;
        bool ipv6;
        const char* text;
    };
    const Row row = GENERATE(values<Row>({
        {"127.0.0.1", false, "127.0.0.1:8189"},
        {"0.0.0.0", false, "0.0.0.0:8189"},
        {"::1", true, "[::1]:8189"},
        {"[::1]", true, "[::1]:8189"},
        {"::", true, "[::]:8189"},
    }));
    const auto endpoints = resolve(row.host, 8189);
    REQUIRE(endpoints);
    REQUIRE(endpoints->size() == 1);
    const Endpoint& endpoint = endpoints->front();
    CHECK(endpoint.isIpv6() == row.ipv6);
    CHECK(endpoint.port() == 8189);
    CHECK(endpoint.text() == row.text);
    CHECK(endpoint.addressText() == row.text);
}

TEST_CASE("a name resolves to its addresses and keeps its own text") {
    const auto endpoints = resolve("localhost", 80);
    REQUIRE(endpoints);
    CHECK(endpoints->front().text() == "localhost:80");
    CHECK(endpoints->front().addressText() == "127.0.0.1:80");
    CHECK(endpoints->front() == loopback(80));
    CHECK_FALSE(endpoints->front() == loopback(81));
}

TEST_CASE("what is no name and no address is an error that says so") {
    struct Row {
        const char* host;
        bool retryable;
    };
    const Row row = GENERATE(values<Row>({
        {"", false},
        {"1::2::3", false},
        {"[127.0.0.1]", false},
        {"a-label-of-more-than-sixty-three-characters-which-no-name-server-is-asked-for", true},
    }));
    const auto endpoints = resolve(row.host, 80);
    REQUIRE_FALSE(endpoints);
    CHECK(endpoints.error().retryable == row.retryable);
    CHECK(endpoints.error().origin.find(row.host) != std::string::npos);
    CHECK_FALSE(endpoints.error().message.empty());
}

TEST_CASE("a connect is over when the source turns writable, and the socket says how it went") {
    struct Sink final : AcceptHandler {
        void onAccepted(int fd, const PeerAddress&) override { ::close(fd); }
    } sink;
    struct Plain final : Source {
        void onReady() override {}
    } source;
    EventLoop loop;
    Acceptor acceptor(loop, sink);
    REQUIRE(acceptor.bind("127.0.0.1", 0));
    const std::uint16_t port = acceptor.boundPort();
    const bool listens = GENERATE(true, false);
    if (!listens) {
        acceptor.close();
        loop.runOnce(Milliseconds(0));
    }

    const auto connecting = startConnect(loopback(port));
    if (!connecting) {
        CHECK_FALSE(listens);  // the loopback interface may refuse at once
        CHECK(connecting.error().retryable);
        CHECK(connecting.error().origin == "127.0.0.1:" + std::to_string(port));
        return;
    }
    REQUIRE(loop.add(source, connecting.value()));
    source.clearWritable();
    runUntil(loop, [&] { return source.writable(); });
    CHECK(socketError(source.fd()) == (listens ? 0 : ECONNREFUSED));
    loop.close(source);
}

TEST_CASE("transfers return a count, the end, or the error") {
    SocketPair pair;
    char bytes[16];
    CHECK(readSome(pair.ours(), bytes, sizeof bytes) == -EAGAIN);
    CHECK(writeSome(pair.peer(), "abc", 3) == 3);
    char one[] = "de";
    char two[] = "fgh";
    const iovec parts[] = {{one, 2}, {two, 3}};
    CHECK(writeSome(pair.peer(), parts, 2) == 5);
    CHECK(readSome(pair.ours(), bytes, sizeof bytes) == 8);
    CHECK(std::memcmp(bytes, "abcdefgh", 8) == 0);
    pair.closePeer();
    CHECK(readSome(pair.ours(), bytes, sizeof bytes) == 0);
    CHECK(writeSome(pair.ours(), "x", 1) == -EPIPE);  // and no signal
    CHECK(writeSome(pair.ours(), parts, 2) == -EPIPE);
}

}  // namespace weir::net
