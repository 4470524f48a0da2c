#include "upstream_url.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace weir::divide {

namespace {

constexpr std::string_view kNoPort = "has no port";

bool isName(std::string_view host) {
    return std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '_';
    });
}

bool isIpv6(std::string_view address) {
    in6_addr parsed{};
    return inet_pton(AF_INET6, std::string(address).c_str(), &parsed) == 1;
}

std::string_view portFault(std::string_view text) {
    if (text.empty()) return kNoPort;
    unsigned port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    const bool number = error == std::errc() && end == text.data() + text.size();
    return number && port >= 1 && port <= 65535 ? "" : "has a port that is not from 1 to 65535";
}

}  // namespace

std::string_view upstreamUrlFault(std::string_view url) {
    if (url.empty()) return "is empty";
    if (url.find("://") != url.npos) return "has a scheme, which belongs in protocol";
    if (url.find_first_of("/?#") != url.npos) return "has a path";
    if (url.front() == '[') {
        const std::size_t close = url.find(']');
        if (close == url.npos || !isIpv6(url.substr(1, close - 1))) return "has no IPv6 address in its brackets";
        const std::string_view behind = url.substr(close + 1);
        return behind.starts_with(':') ? portFault(behind.substr(1)) : kNoPort;
    }
    const std::size_t colon = url.find(':');
    if (colon == 0) return "has no host";
    if (colon == url.npos) return kNoPort;
    if (url.find(':', colon + 1) != url.npos) return "has more than one ':' (an IPv6 address goes in brackets)";
    if (!isName(url.substr(0, colon))) return "has characters that no host name has";
    return portFault(url.substr(colon + 1));
}

}  // namespace weir::divide
