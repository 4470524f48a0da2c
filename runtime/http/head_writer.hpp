#pragma once

#include <cstdint>
#include <string_view>

#include "base/arena.hpp"
#include "http/message_parser.hpp"

namespace weir::http {

// Heads as they go on the wire, written once into the arena and returned as one view. Hop-by-hop fields and those that
// Connection names are left out (RFC 9110 7.6.1), as is Proxy-Authenticate/-Authorization; framing and Connection are
// written here and nowhere else.

struct UpstreamTarget {
    std::string_view path;   // already encoded; what may not stand in a target is encoded all the same
    std::string_view query;  // data() == nullptr: none
    std::string_view host;   // host:port of the upstream
};

// How the request's body is framed for the upstream.
struct RequestFraming {
    BodyKind kind = BodyKind::None;  // None, Length or Chunked
    std::uint64_t length = 0;
};

// X-Forwarded-For gets the client's address appended; -Proto and -Host are the gateway's own view. Expect is the
// gateway's business and left out.
std::string_view writeRequestHead(base::Arena& arena, const RequestHead& request, const UpstreamTarget& target,
                                  const RequestFraming& framing, std::string_view clientAddress);

// How the response's body is framed for the client.
struct ResponseFraming {
    enum class Kind : std::uint8_t {
        None,        // no body and no length: 204, or a HEAD whose length nobody knows
        Length,      // Content-Length: length, also of a body that is not sent (HEAD, 304)
        Chunked,
        UntilClose,
    };
    Kind kind = Kind::None;
    std::uint64_t length = 0;
    bool close = false;          // Connection: close
    bool sayKeepAlive = false;   // Connection: keep-alive, for HTTP/1.0 clients that asked
};

std::string_view writeResponseHead(base::Arena& arena, const ResponseHead& response, const ResponseFraming& framing);

// RFC 9110's phrase; "" for codes it does not list.
std::string_view reasonPhrase(int status);

// "<size in hex>CRLF" into `out` (at least 18 bytes); the view of it.
std::string_view writeChunkSize(char* out, std::uint64_t size);

}  // namespace weir::http
