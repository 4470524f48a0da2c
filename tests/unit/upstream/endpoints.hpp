#pragma once

#include <string>
#include <vector>

#include "net/socket.hpp"

namespace weir::upstream {

// The addresses that these texts are, with the port.
inline std::vector<net::Endpoint> endpoints(const std::vector<std::string>& addresses, std::uint16_t port = 80) {
    std::vector<net::Endpoint> list;
    for (const std::string& each : addresses) list.push_back(net::resolve(each, port).value().front());
    return list;
}

}  // namespace weir::upstream
