#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/socket.hpp"
#include "upstream/server_state.hpp"

namespace weir::upstream {

// One upstream address as the gateway knows it, shared by all sets that name it. Immutable but for its state.
struct Server {
    std::uint32_t id = 0;                  // dense, for the loops' pools
    std::string url;                       // host:port
    std::vector<net::Endpoint> addresses;  // empty when the name did not resolve
    mutable ServerState state;
};

// Servers by url, each resolved once. Control thread only: looking a name up blocks.
class ServerRegistry {
public:
    // A malformed url is an error; a name without address is not (its requests answer 502).
    base::Result<std::shared_ptr<const Server>> get(const std::string& url);

private:
    std::map<std::string, std::shared_ptr<const Server>> servers_;
    const std::shared_ptr<std::atomic<std::uint32_t>> out_ = std::make_shared<std::atomic<std::uint32_t>>(0);
};

}  // namespace weir::upstream
