#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "manage/controls.hpp"
#include "manage/local_api.hpp"
#include "manage/page.hpp"
#include "manage/status_source.hpp"

namespace weir::manage {

// What the management port answers: /actuator/health, /actuator/prometheus, /plugins, /plugins/{id} (of a module, else a
// plugin's key), /spi, /upstreams; the dumps of data_pages.hpp, the calls of local_api.hpp and module_calls.hpp. Any thread.
class Pages {
public:
    // `token` and `localKey` (the setting local.sha512Key) may be empty. `loopback`: only this machine reaches the port, so
    // reading needs no token.
    Pages(const StatusSource& source, config::Secret token, bool loopback, const Controls& controls = {},
          const config::Secret& localKey = {});

    // `port` is the management port's own.
    PageReply answer(const PageRequest& request, std::uint16_t port) const;

private:
    PageReply call(const PageRequest& request) const;
    PageReply explain(const PageRequest& request) const;
    std::optional<PageReply> modulePages(std::string_view path) const;
    bool authorized(std::string_view authorization) const;
    PageReply health(std::uint16_t port) const;
    std::set<std::string> waiting() const;
    PageReply plugins() const;
    PageReply spi() const;
    PageReply upstreams() const;

    const StatusSource& source_;
    config::Secret token_;
    bool loopback_;
    Controls controls_;
    std::optional<LocalApi> localApi_;
};

}  // namespace weir::manage
