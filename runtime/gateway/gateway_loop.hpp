#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "chain/loop_context.hpp"
#include "config/settings.hpp"
#include "http/message_parser.hpp"
#include "net/acceptor.hpp"
#include "net/event_loop.hpp"
#include "upstream/connection.hpp"

namespace weir::gateway {

class ClientConnection;

// Limits and times of the request path, taken from the settings once.
struct RequestLimits {
    explicit RequestLimits(const config::Settings& settings);

    http::ParseLimits parse;
    net::Milliseconds header;     // from the first byte of a request to the end of its head
    net::Milliseconds body;       // without a byte of the request body, or without one taken of the response
    net::Milliseconds keepAlive;  // between two requests
    net::Milliseconds connect;
    net::Milliseconds upstreamBody;
    std::uint32_t maxConnections;  // of all loops together
};

// One event loop with all that lives on it: listener, client connections, upstream connections. Its own thread runs it;
// members are the loop thread's unless said otherwise.
class GatewayLoop final : public net::AcceptHandler {
public:
    // `index` makes request ids unique. `connections` counts those of all loops.
    GatewayLoop(std::uint32_t index, const config::Settings& settings, chain::WorkerPool& workers,
                std::atomic<std::uint32_t>& connections,
                std::function<void(std::shared_ptr<const chain::Snapshot>)> giveBack);
    ~GatewayLoop();

    net::EventLoop events;
    chain::LoopContext context;
    upstream::ConnectionPool upstreams;
    net::Acceptor acceptor;
    const RequestLimits limits;

    void run();  // until drained or stopped
    // ---- any thread ----
    // Stop accepting, let what runs end, then stop; what is left after `timeout` is aborted.
    void drain(net::Milliseconds timeout);

    bool draining() const { return draining_; }
    std::uint64_t nextRequest() { return ++requests_; }
    std::uint32_t index() const { return index_; }
    void opened(ClientConnection& connection);
    void closed(ClientConnection& connection);

private:
    void onAccepted(int fd, const net::PeerAddress& peer) override;
    void onAcceptFailed(int error, std::uint64_t refused) override;
    void beginDrain(net::Milliseconds timeout);
    void abortAll();
    void stopWhenEmpty();

    const std::uint32_t index_;
    std::atomic<std::uint32_t>& connections_;
    ClientConnection* first_ = nullptr;
    net::Timer drainTimer_;
    bool draining_ = false;
    std::uint64_t requests_ = 0;
    std::uint64_t nextFullReportMs_ = 0;
};

}  // namespace weir::gateway
