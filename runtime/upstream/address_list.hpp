#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "net/socket.hpp"

namespace weir::upstream {

// The addresses of an upstream at one time: at least one, IPv4 before IPv6, as net::resolve() answers them. Immutable;
// whoever connects holds the list it took the address from.
class AddressList {
public:
    explicit AddressList(std::vector<net::Endpoint> addresses)
        : addresses_(std::move(addresses)),
          first_(static_cast<std::size_t>(std::ranges::count(addresses_, addresses_.front().isIpv6(),
                                                             &net::Endpoint::isIpv6))) {}

    std::size_t size() const { return addresses_.size(); }
    const std::vector<net::Endpoint>& all() const { return addresses_; }
    bool has(const net::Endpoint& address) const { return std::ranges::find(addresses_, address) != addresses_.end(); }
    // What to try at the `attempt`-th try (below size()) of the `turn`-th connection: the addresses of the first one's
    // family take turns at being the first, the others are there for when all of those fail.
    const net::Endpoint& choose(std::uint32_t turn, std::size_t attempt) const {
        return addresses_[attempt < first_ ? (turn + attempt) % first_ : attempt];
    }
    bool operator==(const AddressList& other) const { return addresses_ == other.addresses_; }

private:
    std::vector<net::Endpoint> addresses_;
    std::size_t first_;  // of the first one's family
};

}  // namespace weir::upstream
