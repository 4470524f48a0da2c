#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "upstream/address_list.hpp"
#include "upstream/server_state.hpp"

namespace weir::upstream {

// One upstream as the gateway knows it, shared by all sets that name it. Immutable but for its state; its addresses,
// which change, are told to who follows the registry.
struct Server {
    std::uint32_t id = 0;  // dense, for the loops' pools; used again when nobody holds the server any more
    std::string url;       // host:port
    bool checked = false;  // health checks decide whether it is used
    mutable ServerState state;
};

// Servers by url, each with the addresses of its name. IP addresses and localhost need no lookup; other names are
// looked up on threads of the registry, again and again, since the system's resolver does not say how long an answer
// holds. A lookup that fails changes nothing: the addresses found before serve on.
class ServerRegistry {
public:
    using Endpoints = std::vector<net::Endpoint>;
    using Resolve = std::function<base::Result<Endpoints>(const std::string& host, std::uint16_t port)>;
    struct Options {
        std::chrono::milliseconds interval{30000};  // from one lookup of a name to the next
        std::chrono::milliseconds retry{5000};      // after one that failed, if that is sooner
        std::chrono::milliseconds patience{500};    // that get() waits for the first lookup
        std::chrono::milliseconds keep{300000};     // that a server is remembered without a holder
        bool checks = false;                        // there are health checks
        Resolve resolve = net::resolve;             // called on several threads; may block
    };

    ServerRegistry();
    // A lookup that hangs is left to itself.
    ~ServerRegistry();
    ServerRegistry(const ServerRegistry&) = delete;
    ServerRegistry& operator=(const ServerRegistry&) = delete;

    // ---- control thread ----
    // Before the first get().
    void configure(Options options);
    // A malformed url is an error. A name without address is not: its requests answer 502 until it has one. Waits for
    // the first lookup of a name, `patience` at most; where that was too short, the next ones are not waited for.
    // `check`: checks decide whether it is used, if there are any.
    base::Result<std::shared_ptr<const Server>> get(const std::string& url, bool check);

    // Called with a server's id and each new list of its addresses, at once with those known already; null: the id
    // means no server any more. Must not block or call the registry; any thread, one call at a time. Empty: nobody
    // follows.
    using Follower = std::function<void(std::uint32_t id, std::shared_ptr<const AddressList> addresses)>;
    void follow(Follower follower);

    // ---- any thread ----
    struct Known {
        std::shared_ptr<const Server> server;
        std::shared_ptr<const AddressList> addresses;  // null: none yet
    };
    // Those that somebody holds and that checks decide about.
    std::vector<Known> checked() const;
    std::shared_ptr<const AddressList> addresses(const Server& server) const;

private:
    struct Shared;

    const std::shared_ptr<Shared> shared_;  // with the threads that look names up
};

}  // namespace weir::upstream
