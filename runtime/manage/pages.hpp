#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "manage/status_source.hpp"

namespace weir::manage {

struct PageRequest {
    std::string_view method;
    std::string_view target;         // with its query, which no page reads
    std::string_view authorization;  // the field's value; empty: absent
};

struct PageReply {
    int status = 200;
    std::string body;       // JSON
    std::string allow;      // Allow; empty: no such field
    std::string challenge;  // WWW-Authenticate; empty: no such field
};

// What the management port answers: /actuator/health, /plugins, /spi. Any thread.
class Pages {
public:
    // `token` may be empty. `loopback`: only this machine reaches the port, so reading needs no token.
    Pages(const StatusSource& source, config::Secret token, bool loopback)
        : source_(source), token_(std::move(token)), loopback_(loopback) {}

    // `port` is the management port's own.
    PageReply answer(const PageRequest& request, std::uint16_t port) const;

private:
    bool authorized(std::string_view authorization) const;
    PageReply health(std::uint16_t port) const;
    PageReply plugins() const;
    PageReply spi() const;

    const StatusSource& source_;
    config::Secret token_;
    bool loopback_;
};

}  // namespace weir::manage
