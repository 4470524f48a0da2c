#include "upstream/server_registry.hpp"

#include <charconv>

#include "base/log.hpp"

namespace weir::upstream {

base::Result<std::shared_ptr<const Server>> ServerRegistry::get(const std::string& url) {
    if (const auto found = servers_.find(url); found != servers_.end()) return found->second;
    const std::size_t colon = url.rfind(':');
    unsigned port = 0;
    const char* end = url.data() + url.size();
    const bool good = colon != std::string::npos && colon > 0 &&
                      std::from_chars(url.data() + colon + 1, end, port) == std::from_chars_result{end, std::errc()} &&
                      port > 0 && port < 65536;
    if (!good) return base::Error{base::ErrorCode::InvalidConfig, "", "expected host:port, found '" + url + "'"};

    auto server = std::make_shared<Server>();
    server->id = static_cast<std::uint32_t>(servers_.size());
    server->url = url;
    server->state.out = out_;
    auto addresses = net::resolve(url.substr(0, colon), static_cast<std::uint16_t>(port));
    if (addresses.ok()) {
        server->addresses = std::move(addresses).value();
    } else {
        base::logWarning("upstream " + url + ": " + addresses.error().text());
    }
    return servers_.emplace(url, std::move(server)).first->second;
}

}  // namespace weir::upstream
