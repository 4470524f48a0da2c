#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chain/loop_context.hpp"
#include "config/settings.hpp"
#include "gateway/access_log.hpp"
#include "gateway/request_id.hpp"
#include "gateway/request_metrics.hpp"
#include "gateway/request_tracing.hpp"
#include "http/head_writer.hpp"
#include "http/message_parser.hpp"
#include "http/path_normalizer.hpp"
#include "net/acceptor.hpp"
#include "net/event_loop.hpp"
#include "upstream/connection.hpp"

namespace weir::gateway {

class ClientConnection;

// Limits and times of the request path, taken from the settings once.
struct RequestLimits {
    // `loops` share what is limited for all of them.
    RequestLimits(const config::Settings& settings, std::uint32_t loops);
    bool allows(std::string_view method) const;

    http::ParseLimits parse;
    http::PathPolicy path;
    net::Milliseconds header;     // from the first byte of a request to the end of its head
    net::Milliseconds body;       // without a byte of the request body, or without one taken of the response
    net::Milliseconds keepAlive;  // between two requests
    net::Milliseconds tunnel;     // both sides silent after a 101
    net::Milliseconds connect;
    net::Milliseconds upstreamBody;
    upstream::EjectionPolicy ejection;
    std::uint64_t replayBody;      // bytes of a request's body that are kept for a repeat
    std::uint32_t maxConnections;  // of all loops together
    std::uint32_t maxRunning;      // requests of this loop; 0: no limit
    std::uint64_t maxBody;         // bytes of a request's body, decoded
    std::uint64_t minRate;         // bytes a second of a client that is waited for; 0: no limit
    bool halfClose;                // a client that has closed its side gets its answer
    std::vector<std::string> methods;  // that are served; empty: all
    std::string allow;             // what Allow says
};

// One event loop with all that lives on it: listener, client connections, upstream connections. Its own thread runs it;
// members are the loop thread's unless said otherwise.
class GatewayLoop final : public net::AcceptHandler {
public:
    // The loop `number`, from 0, of `loops`. `connections` counts those of all of them. log null: no access log.
    GatewayLoop(std::uint32_t number, std::uint32_t loops, const config::Settings& settings, chain::WorkerPool& workers,
                std::atomic<std::uint32_t>& connections, AccessLog* log,
                std::function<void(std::shared_ptr<const chain::Snapshot>)> giveBack);
    ~GatewayLoop();

    net::EventLoop events;
    chain::LoopContext context;
    upstream::ConnectionPool upstreams;
    net::Acceptor acceptor;
    const RequestLimits limits;
    const TracingSettings tracing;
    IdSource ids;
    const std::unique_ptr<LoopAccessLog> accessLog;  // null: off
    RequestCounters requests;

    // How many there are with these settings.
    static std::uint32_t countFor(const config::Settings& settings);

    void run();  // until drained or stopped
    // ---- any thread ----
    // Stop accepting, let what runs end, then stop; what is left after `timeout` is aborted.
    void drain(net::Milliseconds timeout);
    void addTo(manage::Traffic& traffic) const;  // what it has counted

    bool draining() const { return draining_; }
    void requestBegan() { ++running_; }
    void requestOver() { --running_; }
    std::uint32_t running() const { return static_cast<std::uint32_t>(running_); }
    // What the gateway adds to each head; the views live until the next call.
    const http::Additions& additions();
    void opened(ClientConnection& connection);
    void closed(ClientConnection& connection);

private:
    void onAccepted(int fd, const net::PeerAddress& peer) override;
    void onAcceptFailed(int error, std::uint64_t refused) override;
    void beginDrain(net::Milliseconds timeout);
    void abortAll();
    void stopWhenEmpty();

    std::atomic<std::uint32_t>& connections_;
    ClientConnection* first_ = nullptr;
    net::Timer drainTimer_;
    bool draining_ = false;
    base::LoopCounter running_;
    const std::string via_;
    http::Additions additions_;
    char date_[32];
    std::uint64_t dateExpiresMs_ = 0;
    std::uint64_t nextFullReportMs_ = 0;
};

}  // namespace weir::gateway
