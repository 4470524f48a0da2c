#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "http/field_table.hpp"

namespace weir::http {

// Why a message was refused. For a request, the status is what its client gets; a bad response always says 502.
struct ParseError {
    int status = 0;              // 0: no error; else 400, 405 (CONNECT), 414, 431, 501, 505; 502
    std::string_view reason;     // static text: what was wrong, where
    explicit operator bool() const { return status != 0; }
};

struct ParseLimits {
    std::uint32_t requestLine = 8192;    // bytes without CRLF, also of a status line; past it 414
    std::uint32_t fieldBytes = 16384;    // lines of the head as sent, with CRLF; then of the trailers; past it 431
    std::uint32_t fieldCount = 100;      // lines of the head, then of the trailers; past it 431
    std::uint32_t chunkExtension = 1024; // bytes of one chunk line's extension or padding; past it (or 64 KiB
                                         // of extensions in all) 400
};

// The head is not complete, but the buffer it must fit into is full: 414 while the first line has no end, else 431.
ParseError headTooLarge(std::string_view bufferedBytes);

// Whether a request may be sent twice without the client's leave (RFC 9110 9.2.2).
bool isIdempotent(std::string_view method);

enum class BodyKind : std::uint8_t {
    None,        // no body follows the head
    Length,      // contentLength bytes
    Chunked,
    UntilClose,  // responses only
};

// A request head. All texts are views into the fed bytes, static, or in the parser's arena; none has data() == nullptr
// but where said. What is accepted, beyond RFC 9112's syntax:
//   - target: origin-form of the bytes 0x21..0x7e without '#', otherwise as sent; "*" with OPTIONS only. The
//     absolute-form of http: becomes origin-form ("http://b?x" -> "/?x"; "OPTIONS http://b" -> "*", RFC 9112 3.2.4),
//     its authority becomes host, and a Host field that names another one is refused.
//   - Host: exactly one in HTTP/1.1, not empty; at most one in 1.0. Commas and IPvFuture are refused.
//   - Content-Length: one line of digits below 2^63; leading zeros count for nothing.
//   - Transfer-Encoding: one line "chunked", in HTTP/1.1, without Content-Length. Other codings are 501.
//   - HTTP/1.2 to 1.9 are read as 1.1. Up to four CRLFs before the request line are skipped.
struct RequestHead {
    explicit RequestHead(base::Arena& arena) : fields(arena) {}

    std::string_view method;     // any token, as sent
    std::string_view received;   // the target as sent
    std::string_view target;     // origin-form ("/path?query") or "*"
    std::string_view path;       // target up to '?'
    std::string_view query;      // behind '?'; data() == nullptr without '?'
    std::string_view host;       // Host, or the authority of an absolute-form target; empty only in HTTP/1.0
    std::uint64_t contentLength = 0;
    int version = 11;            // 10 or 11
    BodyKind body = BodyKind::None;
    bool keepAlive = true;       // the connection may serve another request after this one
    bool expectContinue = false; // HTTP/1.1 with Expect: 100-continue and a body to come
    bool upgrade = false;        // HTTP/1.1 with Connection: upgrade, whatever Upgrade names
    FieldTable fields;
};

// A response head, texts as above. Equal Content-Length lines are listed once. 1xx are messages of their own, done with
// their head.
struct ResponseHead {
    explicit ResponseHead(base::Arena& arena) : fields(arena) {}

    int status = 0;
    std::string_view reason;
    std::uint64_t contentLength = 0;
    bool hasLength = false;      // Content-Length was sent (also for HEAD and 304, where no body follows)
    int version = 11;
    BodyKind body = BodyKind::None;
    bool keepAlive = true;
    FieldTable fields;
};

// What one feed brought.
struct Fed {
    std::size_t consumed = 0;    // bytes of this message; the rest belongs to the next one
    std::string_view body;       // decoded body bytes of this feed, one run, within the fed buffer
    bool head = false;           // the head is complete (now or before)
    bool done = false;           // the message is complete
    ParseError error;            // then nothing else is set; every later feed answers the same error
};

// Incremental HTTP/1.1 parsers: Beast's basic_parser for the head, behind our own strictness (RFC 9112; design 2.1);
// before both stands PlainHead, which takes the heads that need no judge.
// One object per message, made in the exchange's arena, without a destructor to run. Feed rules:
//   - the head: every feed passes ONE contiguous range that starts at the message's first byte; bytes that were fed
//     never move while views into them live (a fixed buffer). Until the head is complete consumed is 0: feed again
//     from the same start with more bytes appended. Nothing of the head is reported before all of it is right.
//   - the body, also what follows the head in the same feed: always consumed whole, up to the message's end. Chunks
//     are decoded in place: bytes of the fed range behind the head are overwritten. Trailers are checked and dropped.
// After done nothing is consumed. Not thread safe.
class RequestParser {
public:
    // Constructs in place within the arena; never freed by itself. `head` must outlive it; it is filled once, when
    // the head is complete.
    static RequestParser* make(base::Arena& arena, RequestHead& head, const ParseLimits& limits);

    Fed feed(char* data, std::size_t size);

    struct Core;  // what it is, in message_parser.cpp
private:
    RequestParser() = default;
};

class ResponseParser {
public:
    // forHead: the request was HEAD, so no body follows whatever the head says.
    static ResponseParser* make(base::Arena& arena, ResponseHead& head, const ParseLimits& limits, bool forHead);

    Fed feed(char* data, std::size_t size);
    // The peer closed. Ends a body that runs until close (or has ended); anything incomplete is an error.
    Fed finish();

    struct Core;
private:
    ResponseParser() = default;
};

}  // namespace weir::http
