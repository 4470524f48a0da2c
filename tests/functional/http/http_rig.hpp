#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

namespace weir::functional {

// A selector with one rule that sends what meets `condition` (YAML) to an upstream.
struct Route {
    std::string condition;
    const support::RecordingUpstream& upstream;
};

struct RigOptions {
    int retry = 0;
    int timeoutMs = 5000;
    bool guard = false;  // with the fixture plugin fixtures/guard.cpp before all others
    std::vector<std::string> arguments;
};

// A gateway in front of upstreams. When it ends the gateway must be unharmed: it answers a plain request at once, holds
// no more sockets than at the start, and stops with exit code 0 (a sanitizer's report would change that).
class HttpRig {
public:
    // /s1/** goes to `upstream`, as it is.
    explicit HttpRig(const support::RecordingUpstream& upstream, const RigOptions& options = {});
    HttpRig(const std::vector<Route>& routes, const RigOptions& options = {});
    ~HttpRig();

    int port() const { return gateway_.port(); }
    support::GatewayProcess& gateway() { return gateway_; }

    // Comes back when the gateway, which has one event loop, has dealt with all bytes that it had got before.
    void settle() const;

private:
    void checkUnharmed();
    // Without those of connections to upstreams, which come and go by the gateway's own choice.
    std::size_t ownSockets() const;

    support::RecordingUpstream alive_;  // for the plain requests; tests say what the others answer
    std::vector<const support::RecordingUpstream*> upstreams_;
    support::GatewayProcess gateway_;
    std::size_t socketsBefore_ = 0;
};

// "POST /s1/e", the fields that are given (each with CRLF) and the body behind them.
std::string post(std::string_view fields, std::string_view body = "");
// The same with Transfer-Encoding: chunked; `chunks` as they go over the wire.
std::string postChunked(std::string_view chunks);
std::string getRequest(std::string_view target, std::string_view fields = "", std::string_view version = "1.1");

// All whole answers until the gateway closes or resets the connection, in order. Throws when it does not.
std::vector<support::HttpMessage> answersUntilClose(support::WireConnection& client);

// Expects that `bytes`, whatever follows them, get one answer with one of these statuses, then the close of the
// connection, and that nothing of them reaches the upstream.
void checkRefused(const HttpRig& rig, const support::RecordingUpstream& upstream, std::string_view bytes,
                  const std::vector<int>& statuses = {400});

// The same for a request whose head is forwarded before `rest` comes: the upstream must not see a whole message.
void checkBrokenOff(const HttpRig& rig, const support::RecordingUpstream& upstream, std::string_view head,
                    std::string_view rest, const std::vector<int>& statuses = {400});

// Expects that `bytes` are one request, answered with 200, and that the connection then serves another one. Returns
// what the upstream got for the first.
support::HttpMessage checkServed(const HttpRig& rig, const support::RecordingUpstream& upstream,
                                 std::string_view bytes);

// An upstream's reply that repeats the request's body.
support::RecordingUpstream::Reply echoBody();

}  // namespace weir::functional
