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

// The fields of a message as they are now. Views live until the exchange ends.
using FieldViews = std::vector<std::pair<std::string_view, std::string_view>>;
FieldViews fieldsOf(const Headers& headers);

// A response as it was, and for whom it may be repeated. Immutable: any thread reads it.
struct CachedResponse {
    using Fields = std::vector<std::pair<std::string, std::string>>;

    int status = 200;
    std::string contentType;
    Fields fields;    // the others that go from end to end
    std::string body;
    Fields selecting;  // the request's fields that Vary names (RFC 9111 4.1); absent is ""
    bool forEveryone = false;  // the upstream said so: public or s-maxage
    Clock::time_point made;    // its age counts from then
    Clock::time_point fresh;  // until then

    std::size_t bytes() const;
    bool selects(const FieldViews& request) const;
    // As the response to this request; 304 when the client has it already (RFC 9110 13.1).
    void replyTo(Exchange& exchange) const;
};

// What the cache may do for a request.
struct RequestUse {
    bool serve = false;  // answer it from the store
    bool store = false;  // keep what the upstream answers

    static RequestUse of(const Request& request);
};

// Whether a request tells who is asking: only what is for everyone is served to it, or kept of its response.
bool isPersonal(const Request& request);

// How old a response is already and how long it may be kept, at most `timeout`; nullopt: not at all (RFC 9111 3, 4.2).
struct Life {
    std::chrono::seconds age;
    std::chrono::seconds left;
    bool forEveryone;  // see CachedResponse
};
std::optional<Life> lifeOf(const Response& response, bool personal, std::chrono::seconds timeout);

// What an exchange was like before the plugins behind the cache, and the upstream, had it.
struct Before {
    FieldViews request;
    FieldViews response;  // what earlier plugins put on it is for this client
};

// A copy of a response that lifeOf() allows, with `body` as its body. Null: it varies by what no request tells, or by
// what plugins behind the cache have made of the client's request.
std::shared_ptr<CachedResponse> copyOf(const Before& before, const Request& request, const Response& response,
                                       std::string_view body, const Life& life);

}  // namespace weir::cache
