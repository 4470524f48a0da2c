#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/exchange.hpp"

namespace weir::cache {

using Clock = std::chrono::steady_clock;

// A response as it was, and for whom it may be repeated. Immutable: any thread reads it.
struct CachedResponse {
    using Fields = std::vector<std::pair<std::string, std::string>>;

    int status = 200;
    std::string contentType;
    Fields fields;    // the others that go from end to end
    std::string body;
    Fields selecting;  // the request's fields that Vary names (RFC 9111 4.1); absent is ""
    bool forEveryone = false;  // the upstream said so: public or s-maxage
    Clock::time_point stored;
    Clock::time_point fresh;  // until then

    std::size_t bytes() const;
    bool selects(const Request& request) const;
    // As the response to this request; 304 when the client has it already (RFC 9110 13.1).
    void replyTo(Exchange& exchange) const;
};

// What the cache may do for a request.
struct RequestUse {
    bool serve = false;     // answer it from the store
    bool store = false;     // keep what the upstream answers
    bool personal = false;  // it tells who is asking: only what is for everyone is served or kept

    static RequestUse of(const Request& request);
};

// How long the response to such a request may be kept, at most `timeout`; nullopt: not at all (RFC 9111 3).
std::optional<std::chrono::seconds> lifetime(const RequestUse& use, const Response& response,
                                             std::chrono::seconds timeout);

// A copy of a response that lifetime() allows, with `body` as its body. Null: it varies by what no request tells.
std::shared_ptr<CachedResponse> copyOf(const Request& request, const Response& response, std::string_view body,
                                       std::chrono::seconds lifetime);

}  // namespace weir::cache
