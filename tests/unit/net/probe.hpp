#pragma once

#include <functional>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "net/event_loop.hpp"
#include "support/catch.hpp"

namespace weir::net {

// Two connected non-blocking sockets. Those not taken are closed.
struct SocketPair {
    SocketPair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0); }
    ~SocketPair() {
        for (const int fd : fds) {
            if (fd >= 0) ::close(fd);
        }
    }
    SocketPair(const SocketPair&) = delete;
    SocketPair& operator=(const SocketPair&) = delete;

    int ours() const { return fds[0]; }
    int peer() const { return fds[1]; }
    int takeOurs() { return std::exchange(fds[0], -1); }
    void closePeer() { ::close(std::exchange(fds[1], -1)); }
    void send(char byte = 'x') const { REQUIRE(::write(fds[1], &byte, 1) == 1); }

    int fds[2];
};

// A source over one end of a pair that counts its turns and does in them what the test says.
struct Probe final : Source {
    explicit Probe(EventLoop& eventLoop) : loop(eventLoop) { REQUIRE(loop.add(*this, pair.takeOurs())); }
    ~Probe() override {
        if (fd() >= 0) loop.close(*this);
    }
    void onReady() override {
        ++turns;
        if (then) then();
    }
    void onDeferred() override {
        if (later) later();
    }

    EventLoop& loop;
    SocketPair pair;
    int turns = 0;
    std::function<void()> then;
    std::function<void()> later;
};

// Batches until `done` holds; a test that hangs is a failed test.
template <class Done>
void runUntil(EventLoop& loop, Done done) {
    const std::uint64_t end = loop.nowNs() + 20'000'000'000;
    while (!done() && loop.nowNs() < end) loop.runOnce(Milliseconds(10));
    REQUIRE(done());
}

}  // namespace weir::net
