#include "http/message_parser.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include <boost/beast/http/basic_parser.hpp>

#include "http/chunk_decoder.hpp"
#include "http/head_framing.hpp"
#include "http/head_scan.hpp"
#include "http/plain_head.hpp"
#include "http/request_target.hpp"

namespace weir::http {

namespace {

namespace beast = boost::beast;

std::string_view wording(const beast::error_code& code) {
    using beast::http::error;
    switch (static_cast<error>(code.value())) {
    case error::bad_method: return "method malformed";
    case error::bad_target: return "request target malformed";
    case error::bad_version: return "first line malformed";
    case error::bad_status: return "status code malformed";
    case error::bad_reason: return "reason phrase malformed";
    case error::bad_field: return "header name malformed";
    case error::bad_value: return "header value malformed";
    case error::bad_line_ending: return "bare CR in the head";
    case error::bad_content_length:
    case error::multiple_content_length: return "Content-Length malformed";
    case error::bad_transfer_encoding: return "Transfer-Encoding malformed";
    default: return "head malformed";
    }
}

// Beast on one whole head, which HeadScan has found: it lives for one feed and sees neither body nor trailers.
template <bool isRequest>
class HeadReader final : public beast::http::basic_parser<isRequest> {
public:
    HeadReader(FieldTable& fields, HeadFraming& framing) : fields_(fields), framing_(framing) {
        this->header_limit(std::numeric_limits<std::uint32_t>::max());  // HeadScan has limited it
        this->body_limit(boost::none);
    }

    // Bytes of the head up to the end of a line; several calls must make it whole.
    ParseError read(const char* data, std::size_t size) {
        beast::error_code error;
        this->put(boost::asio::const_buffer(data, size), error);
        if (refusal_) return refusal_;
        if (error && error != beast::http::error::need_more) return {400, wording(error)};
        return {};
    }

    std::string_view method, target;  // requests
    std::string_view reason;          // responses
    int status = 0;
    int version = 11;

private:
    static std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

    void refuse(std::string_view why, beast::error_code& error) {
        refusal_ = {400, why};
        error = beast::http::error::bad_value;
    }

    void on_request_impl(beast::http::verb, beast::string_view theMethod, beast::string_view theTarget, int theVersion,
                         beast::error_code&) override {
        method = view(theMethod);
        target = view(theTarget);
        version = theVersion;
    }

    void on_response_impl(int theStatus, beast::string_view theReason, int theVersion, beast::error_code&) override {
        status = theStatus;
        reason = view(theReason);
        version = theVersion;
    }

    void on_field_impl(beast::http::field, beast::string_view theName, beast::string_view theValue,
                       beast::error_code& error) override {
        const std::string_view name = view(theName);
        const std::string_view value = view(theValue);
        const FieldId id = fieldId(name);
        const HeadFraming::Line line = framing_.take(id, value);
        if (line == HeadFraming::Line::Refused) return refuse(framing_.why, error);
        if (line == HeadFraming::Line::Keep) fields_.append(id, name, value);
    }

    // Nothing to do: the head is all it gets.
    void on_header_impl(beast::error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
    std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override { return 0; }
    void on_finish_impl(beast::error_code&) override {}

    FieldTable& fields_;
    HeadFraming& framing_;
    ParseError refusal_;
};

// What both parsers keep between feeds. What most messages do without is made when one needs it.
struct Message {
    Message(base::Arena& theArena, const ParseLimits& theLimits) : arena(theArena), limits(theLimits) {}

    template <class Part, class... Arguments>
    Part* makePart(Arguments... arguments) {
        static_assert(std::is_trivially_destructible_v<Part>);  // the arena runs no destructors
        return new (arena.allocate(sizeof(Part))) Part(arguments...);
    }

    void beginBody(BodyKind kind, std::uint64_t length) {
        body = kind;
        left = length;
        headDone = true;
        done = kind == BodyKind::None || (kind == BodyKind::Length && length == 0);
    }

    void readBody(char* data, std::size_t size, Fed& fed) {
        if (done) return;
        if (body == BodyKind::Chunked) {
            if (!chunks) chunks = makePart<ChunkDecoder>(limits);
            const ChunkDecoder::Step step = chunks->decode(data, size);
            error = step.error;
            done = chunks->done();
            fed.body = step.data;
            fed.consumed += step.consumed;
            return;
        }
        if (body == BodyKind::Length) {
            size = static_cast<std::size_t>(std::min<std::uint64_t>(left, size));
            left -= size;
            done = left == 0;
        }
        fed.body = {data, size};
        fed.consumed += size;
    }

    base::Arena& arena;
    const ParseLimits limits;
    HeadScan* scan = nullptr;         // null: the first feed is to come, or its head was plain
    ChunkDecoder* chunks = nullptr;
    std::uint64_t left = 0;  // of a Length body
    ParseError error;
    BodyKind body = BodyKind::None;
    bool headDone = false;
    bool done = false;
};

Fed refused(const ParseError& error) {
    Fed fed;
    fed.error = error;
    return fed;
}

// The size of the head when it is complete, else 0. Fills in core.error.
template <class Core>
std::size_t readHead(Core& core, char* data, std::size_t size) {
    if (!core.scan) [[likely]] {
        const std::uint32_t before = core.head.fields.size();
        HeadFraming framing(Core::kOfRequest);
        PlainHead plain(data, size, core.limits);
        if (core.readPlain(plain, framing)) [[likely]] {
            core.error = core.settle(framing);
            return plain.consumed();
        }
        core.head.fields.truncate(before);
        core.scan = core.template makePart<HeadScan>(Core::kOfRequest, core.limits);
    }
    core.error = core.scan->scan(data, size);
    if (core.error || !core.scan->complete()) return 0;
    HeadFraming framing(Core::kOfRequest);
    core.error = core.readScanned(data, framing);
    if (!core.error) core.error = core.settle(framing);
    return core.scan->end();
}

template <class Core>
Fed feedMessage(Core& core, char* data, std::size_t size) {
    Fed fed;
    if (!core.error && !core.headDone) fed.consumed = readHead(core, data, size);
    if (!core.error && core.headDone) core.readBody(data + fed.consumed, size - fed.consumed, fed);
    if (core.error) return refused(core.error);
    fed.head = core.headDone;
    fed.done = core.done;
    return fed;
}

}  // namespace

struct RequestParser::Core : RequestParser, Message {
    static constexpr bool kOfRequest = true;

    Core(RequestHead& theHead, base::Arena& theArena, const ParseLimits& theLimits)
        : Message(theArena, theLimits), head(theHead) {}

    bool readPlain(PlainHead& plain, HeadFraming& framing) {
        PlainHead::RequestLine line;
        if (!plain.requestLine(line) || !plain.fieldLines(head.fields, framing)) return false;
        head.method = line.method;
        head.target = line.target;
        head.version = line.version;
        targetChecked = true;
        return true;
    }

    ParseError readScanned(const char* data, HeadFraming& framing) {
        HeadReader<true> reader(head.fields, framing);
        if (const ParseError bad = reader.read(data + scan->start(), scan->end() - scan->start())) return bad;
        if (!reader.is_header_done()) return {400, "head malformed"};
        head.method = reader.method;
        head.target = reader.target;
        head.version = reader.version;
        return {};
    }

    ParseError settle(const HeadFraming& framing) {
        head.received = head.target;
        head.host = framing.host;
        if (head.method == "CONNECT") [[unlikely]] return {405, "CONNECT"};
        if (!head.host.data() && head.version >= 11) return {400, "Host missing"};
        if (head.host.data() && !isAuthority(head.host)) return {400, "Host malformed"};
        if (!targetChecked && targetRun(head.target) != head.target.size())
            return {400, "illegal byte in the request target"};
        if (const ParseError bad = settleTarget(head, arena)) [[unlikely]] return bad;
        if (const ParseError bad = framing.check(head.version)) [[unlikely]] return bad;

        head.body = framing.chunked() ? BodyKind::Chunked : framing.hasLength ? BodyKind::Length : BodyKind::None;
        head.contentLength = framing.length;
        head.keepAlive = framing.persists(head.version);
        beginBody(head.body, head.contentLength);
        head.expectContinue = framing.expectContinue && head.version >= 11 && !done;
        head.upgrade = framing.upgrade && head.version >= 11;
        return {};
    }

    RequestHead& head;
    bool targetChecked = false;  // byte by byte, by PlainHead
};

struct ResponseParser::Core : ResponseParser, Message {
    static constexpr bool kOfRequest = false;

    Core(ResponseHead& theHead, base::Arena& theArena, const ParseLimits& theLimits, bool answersHead)
        : Message(theArena, theLimits), head(theHead), forHead(answersHead) {}

    bool readPlain(PlainHead& plain, HeadFraming& framing) {
        PlainHead::StatusLine line;
        if (!plain.statusLine(line) || !plain.fieldLines(head.fields, framing)) return false;
        head.status = line.status;
        head.reason = line.reason;
        head.version = line.version;
        return true;
    }

    ParseError readScanned(const char* data, HeadFraming& framing) {
        HeadReader<false> reader(head.fields, framing);
        if (const ParseError bad = readWith(reader, data)) return bad;
        if (!reader.is_header_done()) return {400, "head malformed"};
        head.status = reader.status;
        head.reason = reader.reason.empty() ? "" : reader.reason;
        head.version = reader.version;
        return {};
    }

    ParseError settle(const HeadFraming& framing) {
        if (head.status < 100) [[unlikely]] return {400, "status code below 100"};
        if (const ParseError bad = framing.check(head.version)) [[unlikely]] return bad;
        if (head.status < 200 && (framing.length > 0 || framing.chunked())) return {400, "1xx with a body"};

        const bool bodiless = forHead || head.status < 200 || head.status == 204 || head.status == 304;
        head.body = bodiless            ? BodyKind::None
                    : framing.chunked() ? BodyKind::Chunked
                    : framing.hasLength ? BodyKind::Length
                                        : BodyKind::UntilClose;
        head.hasLength = framing.hasLength;
        head.contentLength = framing.length;
        head.keepAlive = framing.persists(head.version) && head.body != BodyKind::UntilClose;
        beginBody(head.body, head.contentLength);
        return {};
    }

    ParseError readWith(HeadReader<false>& reader, const char* data) const {
        constexpr std::string_view kBare = "HTTP/1.1 200\r\n";
        if (scan->startEnd() != kBare.size()) return reader.read(data, scan->end());
        // Neither reason nor the blank before it: many servers do this, Beast refuses it, so it gets the blank.
        std::array<char, kBare.size() + 1> line;
        std::memcpy(line.data(), data, kBare.size() - 2);
        std::memcpy(line.data() + kBare.size() - 2, " \r\n", 3);
        if (const ParseError bad = reader.read(line.data(), line.size())) return bad;
        return reader.read(data + kBare.size(), scan->end() - kBare.size());
    }

    ResponseHead& head;
    const bool forHead;
};

RequestParser* RequestParser::make(base::Arena& arena, RequestHead& head, const ParseLimits& limits) {
    static_assert(std::is_trivially_destructible_v<Core>);  // the arena runs no destructors
    return new (arena.allocate(sizeof(Core))) Core(head, arena, limits);
}

Fed RequestParser::feed(char* data, std::size_t size) { return feedMessage(static_cast<Core&>(*this), data, size); }

ResponseParser* ResponseParser::make(base::Arena& arena, ResponseHead& head, const ParseLimits& limits, bool forHead) {
    static_assert(std::is_trivially_destructible_v<Core>);
    return new (arena.allocate(sizeof(Core))) Core(head, arena, limits, forHead);
}

Fed ResponseParser::feed(char* data, std::size_t size) {
    Fed fed = feedMessage(static_cast<Core&>(*this), data, size);
    if (fed.error) fed.error.status = 502;
    return fed;
}

Fed ResponseParser::finish() {
    Core& core = static_cast<Core&>(*this);
    if (!core.error && core.headDone && core.body == BodyKind::UntilClose) core.done = true;
    if (!core.error && !core.done) core.error = {502, "closed before the message was complete"};
    if (core.error) return refused({502, core.error.reason});
    Fed fed;
    fed.head = fed.done = true;
    return fed;
}

bool isIdempotent(std::string_view method) {
    constexpr std::string_view kMethods[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
    return std::find(std::begin(kMethods), std::end(kMethods), method) != std::end(kMethods);
}

}  // namespace weir::http
