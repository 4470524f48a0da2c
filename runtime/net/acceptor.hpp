#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/loop_counter.hpp"
#include "base/result.hpp"
#include "net/event_loop.hpp"
#include "net/socket.hpp"

namespace weir::net {

// What an acceptor hands its connections to. Called on the loop's thread.
struct AcceptHandler {
    // `fd` is the handler's: non-blocking, close-on-exec, TCP_NODELAY. It may close the acceptor, not destroy it.
    virtual void onAccepted(int fd, const PeerAddress& peer) = 0;
    // For the log, at most once a second: accept failed with `error` (an errno; EMFILE, ENFILE: out of descriptors);
    // `refused` connections were closed unserved since the start.
    virtual void onAcceptFailed([[maybe_unused]] int error, [[maybe_unused]] std::uint64_t refused) {}

protected:
    ~AcceptHandler() = default;
};

// Accepts connections for one loop. Each loop has its own listener on the port (SO_REUSEPORT) and the kernel spreads
// the connections. At most kBatch are accepted per wake. Out of descriptors, a connection is let in on a reserve
// descriptor and closed at once, so that its client learns of it; when not even that works the listener pauses for
// kPause. Loop thread only (or before the loop runs).
class Acceptor final : private Source {
public:
    static constexpr int kBatch = 64;
    static constexpr Milliseconds kPause{100};

    Acceptor(EventLoop& loop, AcceptHandler& handler);
    ~Acceptor();  // hands nothing over any more

    // Listens on a literal address or a name (its first address is taken; looking it up blocks). Port 0 lets the system
    // choose. "::" takes IPv4 too. An address somebody listens on already is an error, also when it is another Weir.
    // Errors name the address and the reason.
    base::Result<void> bind(const std::string& host, std::uint16_t port);
    // Listens on the same address and port as `first`, which listens for another loop.
    base::Result<void> bindBeside(const Acceptor& first);
    // Stops accepting. Connections that were complete already are handed over first, so that a drain resets none.
    void close();

    bool listening() const { return fd() >= 0; }
    std::uint16_t boundPort() const { return endpoint_ ? endpoint_->port() : 0; }  // 0 before bind

    struct Counters {
        base::LoopCounter accepted;
        base::LoopCounter refused;  // closed at once: out of descriptors
        std::uint64_t pauses = 0;
    };
    const Counters& counters() const { return counters_; }  // any thread may read the first two

private:
    void onReady() override;
    base::Result<void> listenOn(const Endpoint& endpoint);
    void acceptUpTo(int limit);
    bool acceptFailed(int error);
    int refuseOne();
    void pause();
    void resume();

    EventLoop& loop_;
    AcceptHandler& handler_;
    Timer resumeTimer_;
    std::optional<Endpoint> endpoint_;  // where we listen, with the real port
    int reserve_;
    bool closing_ = false;
    std::uint64_t nextReportMs_ = 0;
    Counters counters_;
};

}  // namespace weir::net
