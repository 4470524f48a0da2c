#pragma once

#include <string_view>

namespace weir::divide {

// What keeps `url` from being host:port, as the end of a sentence ("has no port"); "" when nothing does. The host is a
// name, an IPv4 address, or an IPv6 address in brackets; the port is 1 to 65535.
std::string_view upstreamUrlFault(std::string_view url);

}  // namespace weir::divide
