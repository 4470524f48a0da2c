#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "manage/local_api.hpp"
#include "manage/page.hpp"
#include "manage/status_source.hpp"

namespace weir::manage {

// What the management port answers: /actuator/health, /plugins, /plugins/{id} (of a module, else a plugin's key), /spi,
// and with a DataControl the dumps of data_pages.hpp and the calls of local_api.hpp. Any thread.
class Pages {
public:
    // `token` and `localKey` (the setting local.sha512Key) may be empty, `control` null. `loopback`: only this machine
    // reaches the port, so reading needs no token.
    Pages(const StatusSource& source, config::Secret token, bool loopback, DataControl* control = nullptr,
          const config::Secret& localKey = {});

    // `port` is the management port's own.
    PageReply answer(const PageRequest& request, std::uint16_t port) const;

private:
    bool authorized(std::string_view authorization) const;
    PageReply health(std::uint16_t port) const;
    std::set<std::string> waiting() const;
    PageReply plugins() const;
    PageReply spi() const;

    const StatusSource& source_;
    config::Secret token_;
    bool loopback_;
    DataControl* control_;
    std::optional<LocalApi> localApi_;
};

}  // namespace weir::manage
