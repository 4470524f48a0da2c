#include "net/acceptor.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>

#include "probe.hpp"

namespace weir::net {

namespace {

struct Recorder final : AcceptHandler {
    ~Recorder() {
        for (const int fd : fds) ::close(fd);
    }
    void onAccepted(int fd, const PeerAddress& peer) override {
        fds.push_back(fd);
        lastPeer = peer;
        if (then) then();
    }
    void onAcceptFailed(int error, std::uint64_t refusedSoFar) override {
        ++reports;
        lastError = error;
        refused = refusedSoFar;
    }

    std::vector<int> fds;
    PeerAddress lastPeer;
    std::function<void()> then;
    int reports = 0;
    int lastError = 0;
    std::uint64_t refused = 0;
};

// A client whose connect has been completed by the kernel.
struct Client {
    explicit Client(std::uint16_t port, const char* host = "127.0.0.1") {
        const Endpoint endpoint = resolve(host, port).value().front();
        fd = ::socket(endpoint.address()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(fd >= 0);
        REQUIRE(::connect(fd, endpoint.address(), endpoint.length()) == 0);
    }
    ~Client() { ::close(fd); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    std::uint16_t localPort() const {
        sockaddr_storage address{};
        socklen_t length = sizeof address;
        REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
        return PeerAddress(address).port();
    }

    int fd;
};

// No further descriptor for this process while it lives.
class DescriptorLimit {
public:
    DescriptorLimit() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        // The numbers below the lowest free one are in use; a limit does not count what is open above it.
        const int free = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::close(free);
        rlimit none = before_;
        none.rlim_cur = static_cast<rlim_t>(free);
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~DescriptorLimit() { lift(); }
    void lift() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

}  // namespace

TEST_CASE("an acceptor on port 0 says which port it got and hands over connections ready for use") {
    const char* host = GENERATE("127.0.0.1", "::1", "::");
    EventLoop loop;
    Recorder recorder;
    Acceptor acceptor(loop, recorder);
    const auto bound = acceptor.bind(host, 0);
    INFO((bound ? std::string(host) : bound.error().text()));
    REQUIRE(bound);
    REQUIRE(acceptor.boundPort() != 0);

    const bool overIpv6 = std::string(host) == "::1";
    const Client client(acceptor.boundPort(), overIpv6 ? "::1" : "127.0.0.1");
    runUntil(loop, [&] { return recorder.fds.size() == 1; });
    CHECK(recorder.lastPeer.text() == (overIpv6 ? "::1" : "127.0.0.1"));
    CHECK(recorder.lastPeer.port() == client.localPort());
    const int fd = recorder.fds.front();
    CHECK((::fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    int noDelay = 0;
    socklen_t length = sizeof noDelay;
    CHECK(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &noDelay, &length) == 0);
    CHECK(noDelay != 0);
    CHECK(acceptor.counters().accepted == 1);
}

TEST_CASE("a second loop listens beside the first and every connection reaches one of them") {
    EventLoop firstLoop;
    EventLoop secondLoop;
    Recorder firstRecorder;
    Recorder secondRecorder;
    Acceptor first(firstLoop, firstRecorder);
    Acceptor second(secondLoop, secondRecorder);
    REQUIRE(first.bind("127.0.0.1", 0));
    REQUIRE(second.bindBeside(first));
    CHECK(second.boundPort() == first.boundPort());

    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 64; ++i) clients.push_back(std::make_unique<Client>(first.boundPort()));
    for (int i = 0; i < 1000 && firstRecorder.fds.size() + secondRecorder.fds.size() < clients.size(); ++i) {
        firstLoop.runOnce(Milliseconds(5));
        secondLoop.runOnce(Milliseconds(5));
    }
    CHECK(firstRecorder.fds.size() + secondRecorder.fds.size() == clients.size());
    CHECK_FALSE(firstRecorder.fds.empty());
    CHECK_FALSE(secondRecorder.fds.empty());
}

TEST_CASE("an address that cannot be listened on is an error with address and reason") {
    EventLoop loop;
    Recorder recorder;
    Acceptor first(loop, recorder);
    REQUIRE(first.bind("127.0.0.1", 0));
    Acceptor acceptor(loop, recorder);
    SECTION("in use, even by one of us that did not mean to share") {
        const auto result = acceptor.bind("127.0.0.1", first.boundPort());
        REQUIRE_FALSE(result);
        CHECK(result.error().text() == "127.0.0.1:" + std::to_string(first.boundPort()) +
                                           ": cannot listen: Address already in use");
    }
    SECTION("not an address of this machine") {
        const auto result = acceptor.bind("203.0.113.1", 0);
        REQUIRE_FALSE(result);
        CHECK(result.error().text() == "203.0.113.1:0: cannot listen: Cannot assign requested address");
    }
    SECTION("no address at all") {
        const auto result = acceptor.bind("", 80);
        REQUIRE_FALSE(result);
        CHECK(result.error().origin == ":80");
    }
    CHECK_FALSE(acceptor.listening());
    CHECK(acceptor.boundPort() == 0);
}

TEST_CASE("one wake accepts a bounded batch and the rest comes with the next") {
    EventLoop loop;
    Recorder recorder;
    Acceptor acceptor(loop, recorder);
    REQUIRE(acceptor.bind("127.0.0.1", 0));
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < Acceptor::kBatch + 10; ++i) clients.push_back(std::make_unique<Client>(acceptor.boundPort()));
    loop.runOnce(Milliseconds(1000));
    CHECK(recorder.fds.size() == Acceptor::kBatch);
    loop.runOnce(Milliseconds(1000));
    CHECK(recorder.fds.size() == Acceptor::kBatch + 10);
}

TEST_CASE("closing hands over what is waiting and then refuses") {
    EventLoop loop;
    Recorder recorder;
    Acceptor acceptor(loop, recorder);
    REQUIRE(acceptor.bind("127.0.0.1", 0));
    const std::uint16_t port = acceptor.boundPort();
    const Client one(port);
    const Client two(port);
    SECTION("from outside") { acceptor.close(); }
    SECTION("from the handler") {
        recorder.then = [&] { acceptor.close(); };
        loop.runOnce(Milliseconds(1000));
    }
    CHECK(recorder.fds.size() == 2);
    CHECK_FALSE(acceptor.listening());
    loop.runOnce(Milliseconds(0));

    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const Endpoint endpoint = resolve("127.0.0.1", port).value().front();
    CHECK(::connect(fd, endpoint.address(), endpoint.length()) == -1);
    CHECK(errno == ECONNREFUSED);
    ::close(fd);
    acceptor.close();  // again does nothing
}

TEST_CASE("out of descriptors, a connection is closed at once, the loop does not spin, and later ones are served") {
    EventLoop loop;
    Recorder recorder;
    Acceptor acceptor(loop, recorder);
    REQUIRE(acceptor.bind("127.0.0.1", 0));
    const Client one(acceptor.boundPort());
    const Client two(acceptor.boundPort());
    std::uint64_t wakes = 0;
    {
        const DescriptorLimit limit;
        for (int i = 0; i < 10 && acceptor.counters().refused < 2; ++i) loop.runOnce(Milliseconds(1000));
        wakes = loop.counters().wakes;
        loop.runOnce(Milliseconds(20));  // nothing is left to wake for
    }
    CHECK(wakes <= 2);
    CHECK(acceptor.counters().refused == 2);
    CHECK(acceptor.counters().accepted == 0);
    CHECK(acceptor.counters().pauses == 0);
    CHECK(recorder.reports == 1);  // not one for each
    CHECK(recorder.lastError == EMFILE);
    CHECK(recorder.refused == 1);
    char byte;
    CHECK(::recv(one.fd, &byte, 1, 0) == 0);
    CHECK(::recv(two.fd, &byte, 1, 0) == 0);

    const Client three(acceptor.boundPort());
    runUntil(loop, [&] { return recorder.fds.size() == 1; });
}

TEST_CASE("when the reserve does not help either, the listener pauses and then goes on") {
    EventLoop loop;
    Recorder recorder;
    Acceptor acceptor(loop, recorder);
    REQUIRE(acceptor.bind("127.0.0.1", 0));
    const Client client(acceptor.boundPort());
    {
        // Below everything that is open: the reserve, once given up, cannot be had again.
        rlimit before{};
        ::getrlimit(RLIMIT_NOFILE, &before);
        rlimit none = before;
        none.rlim_cur = 3;
        ::setrlimit(RLIMIT_NOFILE, &none);
        loop.runOnce(Milliseconds(1000));
        const std::uint64_t wakes = loop.counters().wakes;
        const std::uint64_t start = loop.nowMs();
        loop.runOnce(Milliseconds(50));  // the connection still waits, and does not wake us
        ::setrlimit(RLIMIT_NOFILE, &before);
        CHECK(loop.counters().wakes == wakes + 1);
        CHECK(loop.nowMs() - start >= 50);
    }
    CHECK(acceptor.counters().pauses == 1);
    CHECK(acceptor.counters().refused == 0);
    CHECK(recorder.fds.empty());
    CHECK(recorder.reports == 1);
    runUntil(loop, [&] { return recorder.fds.size() == 1; });
}

TEST_CASE("an acceptor can be closed and destroyed while it pauses") {
    EventLoop loop;
    Recorder recorder;
    auto acceptor = std::make_unique<Acceptor>(loop, recorder);
    REQUIRE(acceptor->bind("127.0.0.1", 0));
    const Client client(acceptor->boundPort());
    {
        rlimit before{};
        ::getrlimit(RLIMIT_NOFILE, &before);
        rlimit none = before;
        none.rlim_cur = 3;
        ::setrlimit(RLIMIT_NOFILE, &none);
        loop.runOnce(Milliseconds(1000));
        ::setrlimit(RLIMIT_NOFILE, &before);
    }
    REQUIRE(acceptor->counters().pauses == 1);
    SECTION("closed") {
        acceptor->close();
        CHECK(recorder.fds.size() == 1);
        loop.runOnce(Milliseconds(150));
    }
    SECTION("destroyed") {
        acceptor.reset();
        loop.runOnce(Milliseconds(150));
    }
    CHECK(loop.counters().sources == 0);
}

}  // namespace weir::net
