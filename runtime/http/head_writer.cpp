#include "http/head_writer.hpp"

#include <charconv>
#include <cstring>

#include "base/assert.hpp"
#include "base/hex.hpp"
#include "http/request_target.hpp"

namespace weir::http {

namespace {

constexpr FieldIds kHopByHop = bit(FieldId::Connection) | bit(FieldId::KeepAlive) | bit(FieldId::ProxyConnection) |
                               bit(FieldId::ProxyAuthenticate) | bit(FieldId::ProxyAuthorization) |
                               bit(FieldId::Te) | bit(FieldId::Trailer) | bit(FieldId::TransferEncoding) |
                               bit(FieldId::Upgrade) | bit(FieldId::ContentLength);
constexpr FieldIds kNotToUpstream = kHopByHop | bit(FieldId::Host) | bit(FieldId::Expect) |
                                    bit(FieldId::XForwardedFor) | bit(FieldId::XForwardedHost) |
                                    bit(FieldId::XForwardedProto) | bit(FieldId::UnderscoreTwin);

class Writer {
public:
    Writer(base::Arena& arena, std::size_t bound)
        : begin_(arena.allocateArray<char>(bound)), at_(begin_), bound_(bound) {}

    void put(std::string_view text) {
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    // What may not stand in a request target is percent-encoded: a path that a plugin made must not end the line.
    void putTarget(std::string_view path) {
        for (;;) {
            const std::size_t clean = targetRun(path);
            put(path.substr(0, clean));
            if (clean == path.size()) return;
            *at_++ = '%';
            put(base::upperHexOf(static_cast<unsigned char>(path[clean])));
            path.remove_prefix(clean + 1);
        }
    }
    void put(std::uint64_t number) { at_ = std::to_chars(at_, at_ + 20, number).ptr; }
    void field(std::string_view name, std::string_view value) {
        put(name);
        put(": ");
        put(value);
        put("\r\n");
    }
    std::string_view done() {
        WEIR_ASSERT(static_cast<std::size_t>(at_ - begin_) <= bound_);
        return {begin_, static_cast<std::size_t>(at_ - begin_)};
    }

private:
    char* begin_;
    char* at_;
    std::size_t bound_;
};

// Whether Connection says something beyond close and keep-alive, so that names must be compared.
bool namesFields(const FieldTable& fields) {
    if (!fields.mayHave(bit(FieldId::Connection))) return false;
    for (const FieldTable::Field& field : fields)
        if (field.id == FieldId::Connection && field.alive() && !equalsIgnoreCase(field.value, "close") &&
            !equalsIgnoreCase(field.value, "keep-alive"))
            return true;
    return false;
}

// Whether a Connection field of `fields` lists `name`.
bool namedByConnection(const FieldTable& fields, std::string_view name) {
    for (const FieldTable::Field& field : fields) {
        if (!field.alive() || field.id != FieldId::Connection) continue;
        std::string_view rest = field.value;
        while (!rest.empty()) {
            const std::size_t comma = rest.find(',');
            std::string_view token = rest.substr(0, comma);
            rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
            const std::size_t first = token.find_first_not_of(" \t");
            if (first == std::string_view::npos) continue;
            token = token.substr(first, token.find_last_not_of(" \t") - first + 1);
            if (equalsIgnoreCase(token, name)) return true;
        }
    }
    return false;
}

void copyFields(Writer& out, const FieldTable& fields, FieldIds leftOut, bool parsedOnly = false) {
    const bool named = namesFields(fields);
    std::string_view run;  // lines that stand side by side in memory go out as one copy
    for (const FieldTable::Field& field : fields) {
        if (!field.alive() || (leftOut & bit(field.id))) continue;
        if (parsedOnly && !field.parsed) continue;
        if (named && field.parsed && namedByConnection(fields, field.name)) continue;
        if (field.verbatim && field.name.data() == run.end()) {
            run = {run.data(), field.value.end() + 2};
            continue;
        }
        if (!run.empty()) out.put(run);
        run = {};
        if (field.verbatim) run = {field.name.data(), field.value.end() + 2};
        else out.field(field.name, field.value);
    }
    if (!run.empty()) out.put(run);
}

// All lines of the field: an Upgrade list may be spread over several.
[[gnu::cold]] void copyUpgrade(Writer& out, const FieldTable& fields) {
    out.put("Connection: upgrade\r\n");
    for (const FieldTable::Field& field : fields)
        if (field.alive() && field.id == FieldId::Upgrade) out.field(field.name, field.value);
}

// What those before the gateway said of where the request came from.
void putForwardedFor(Writer& out, const FieldTable& fields) {
    for (const FieldTable::Field& field : fields) {
        if (!field.alive() || field.id != FieldId::XForwardedFor || field.value.empty()) continue;
        out.put(field.value);
        out.put(", ");
    }
}

// Every gateway adds itself behind those before it, as a line of its own (RFC 9110 7.6.3).
void putVia(Writer& out, int version, std::string_view name) {
    if (name.empty()) return;
    out.put(version < 11 ? "Via: 1.0 " : "Via: 1.1 ");
    out.put(name);
    out.put("\r\n");
}

// One element of RFC 7239: for, host, proto. What is no token is quoted; IPv6 addresses are bracketed too (section 6).
void putForwarded(Writer& out, std::string_view client, std::string_view host) {
    const bool v6 = client.find(':') != std::string_view::npos;
    out.put(v6 ? "Forwarded: for=\"[" : "Forwarded: for=");
    out.put(client);
    if (v6) out.put("]\"");
    if (!host.empty()) {
        const bool token = isFieldName(host);
        out.put(token ? ";host=" : ";host=\"");
        out.put(host);
        if (!token) out.put("\"");
    }
    out.put(";proto=http\r\n");
}

}  // namespace

std::string_view writeRequestHead(base::Arena& arena, const RequestHead& request, const UpstreamTarget& target,
                                  const RequestFraming& framing, std::string_view clientAddress,
                                  const Additions& additions) {
    Writer out(arena, request.fields.bytes() + request.method.size() + 3 * target.path.size() + target.query.size() +
                          target.host.size() + 2 * request.host.size() + 2 * clientAddress.size() +
                          additions.via.size() + 384);
    out.put(request.method);
    out.put(" ");
    if (target.path.empty()) out.put("/");
    out.putTarget(target.path);
    if (target.query.data()) {
        out.put("?");
        out.put(target.query);
    }
    out.put(" HTTP/1.1\r\n");
    out.field("Host", target.host);
    copyFields(out, request.fields, kNotToUpstream);
    out.put("X-Forwarded-For: ");
    if (request.fields.mayHave(bit(FieldId::XForwardedFor))) putForwardedFor(out, request.fields);
    out.put(clientAddress);
    out.put("\r\nX-Forwarded-Proto: http\r\n");
    if (!request.host.empty()) out.field("X-Forwarded-Host", request.host);
    if (additions.forwarded) putForwarded(out, clientAddress, request.host);
    putVia(out, request.version, additions.via);
    if (framing.expectContinue) out.put("Expect: 100-continue\r\n");
    if (framing.upgrade) copyUpgrade(out, request.fields);
    if (framing.kind == BodyKind::Length) {
        out.put("Content-Length: ");
        out.put(framing.length);
        out.put("\r\n");
    } else if (framing.kind == BodyKind::Chunked) {
        out.put("Transfer-Encoding: chunked\r\n");
    }
    out.put("\r\n");
    return out.done();
}

std::string_view writeResponseHead(base::Arena& arena, const ResponseHead& response, const ResponseFraming& framing,
                                   const Additions& additions) {
    const std::string_view reason = response.reason.empty() ? reasonPhrase(response.status) : response.reason;
    Writer out(arena, response.fields.bytes() + reason.size() + additions.via.size() + additions.date.size() + 192);
    out.put("HTTP/1.1 ");
    out.put(static_cast<std::uint64_t>(response.status));
    out.put(" ");
    out.put(reason);
    out.put("\r\n");
    copyFields(out, response.fields, kHopByHop);
    if (!additions.date.empty() && !response.fields.get(FieldId::Date).data()) out.field("Date", additions.date);
    putVia(out, response.version, additions.via);
    switch (framing.kind) {
        case ResponseFraming::Kind::Length:
            out.put("Content-Length: ");
            out.put(framing.length);
            out.put("\r\n");
            break;
        case ResponseFraming::Kind::Chunked: out.put("Transfer-Encoding: chunked\r\n"); break;
        case ResponseFraming::Kind::Upgrade: copyUpgrade(out, response.fields); break;
        case ResponseFraming::Kind::UntilClose:
        case ResponseFraming::Kind::None: break;
    }
    if (framing.close) out.put("Connection: close\r\n");
    else if (framing.sayKeepAlive) out.put("Connection: keep-alive\r\n");
    out.put("\r\n");
    return out.done();
}

std::string_view writeInterimHead(base::Arena& arena, const ResponseHead& response) {
    Writer out(arena, response.fields.bytes() + response.reason.size() + 32);
    out.put("HTTP/1.1 ");
    out.put(static_cast<std::uint64_t>(response.status));
    out.put(" ");
    out.put(response.reason);
    out.put("\r\n");
    copyFields(out, response.fields, kHopByHop, true);
    out.put("\r\n");
    return out.done();
}

std::string_view writeChunkSize(char* out, std::uint64_t size) {
    char* end = std::to_chars(out, out + 16, size, 16).ptr;
    *end++ = '\r';
    *end++ = '\n';
    return {out, static_cast<std::size_t>(end - out)};
}

std::string_view reasonPhrase(int status) {
    switch (status) {
        case 101: return "Switching Protocols";
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 203: return "Non-Authoritative Information";
        case 204: return "No Content";
        case 205: return "Reset Content";
        case 206: return "Partial Content";
        case 300: return "Multiple Choices";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 303: return "See Other";
        case 304: return "Not Modified";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 402: return "Payment Required";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 407: return "Proxy Authentication Required";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 411: return "Length Required";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 416: return "Range Not Satisfiable";
        case 417: return "Expectation Failed";
        case 421: return "Misdirected Request";
        case 422: return "Unprocessable Content";
        case 426: return "Upgrade Required";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        default: return "";
    }
}

}  // namespace weir::http
