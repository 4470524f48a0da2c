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
    std::string_view host;   // for the Host field: host:port of the upstream, or what the client sent
};

// What a gateway adds of its own to what it passes on.
struct Additions {
    std::string_view via;       // Via's pseudonym (RFC 9110 7.6.3); empty: no Via
    bool forwarded = false;     // Forwarded (RFC 7239) beside the X-Forwarded ones
    std::string_view date;      // for responses without one (RFC 9110 6.6.1); empty: none
};

// How the request's body is framed for the upstream.
struct RequestFraming {
    BodyKind kind = BodyKind::None;  // None, Length or Chunked
    std::uint64_t length = 0;
    bool expectContinue = false;  // ask the upstream before the body goes (RFC 9110 10.1.1)
    bool upgrade = false;         // pass the client's Upgrade on
};

// X-Forwarded-For gets the client's address appended; -Proto and -Host are the gateway's own view.
std::string_view writeRequestHead(base::Arena& arena, const RequestHead& request, const UpstreamTarget& target,
                                  const RequestFraming& framing, std::string_view clientAddress,
                                  const Additions& additions = {});

// How the response's body is framed for the client.
struct ResponseFraming {
    enum class Kind : std::uint8_t {
        None,        // no body and no length: 204, or a HEAD whose length nobody knows
        Length,      // Content-Length: length, also of a body that is not sent (HEAD, 304)
        Chunked,
        UntilClose,
        Upgrade,     // 101: what follows belongs to another protocol
    };
    Kind kind = Kind::None;
    std::uint64_t length = 0;
    bool close = false;          // Connection: close
    bool sayKeepAlive = false;   // Connection: keep-alive, for HTTP/1.0 clients that asked
};

std::string_view writeResponseHead(base::Arena& arena, const ResponseHead& response, const ResponseFraming& framing,
                                   const Additions& additions = {});
// An interim response (1xx but 101) as the upstream sent it: without the edits of plugins, which are for the final one.
std::string_view writeInterimHead(base::Arena& arena, const ResponseHead& response);

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// RFC 9110's phrase; "" for codes it does not list.
std::string_view reasonPhrase(int status);

// "<size in hex>CRLF" into `out` (at least 18 bytes); the view of it.
std::string_view writeChunkSize(char* out, std::uint64_t size);
// What stands behind a chunk's data, behind the last one's, and alone.
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kChunkEndAndLast = "\r\n0\r\n\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace weir::http
