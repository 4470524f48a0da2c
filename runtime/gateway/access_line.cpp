#include "gateway/access_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/utf8.hpp"
#include "gateway/trace_context.hpp"

namespace weir::gateway {

namespace {

constexpr std::size_t kTargetBytes = 2048;
constexpr std::size_t kRefererBytes = 1024;
constexpr std::size_t kUserAgentBytes = 512;
constexpr std::size_t kUpstreamBytes = 256;
constexpr std::size_t kOtherBytes = 128;
constexpr std::size_t kOthers = 6;         // client, method, request id, trace id, selector, rule
constexpr std::size_t kLongestEscape = 6;  // \u001f
constexpr std::size_t kFixedBytes = 640;   // all keys, numbers, times and "..."
static_assert(kLongestEscape * (kTargetBytes + kRefererBytes + kUserAgentBytes + kUpstreamBytes +
                                kOthers * kOtherBytes) + kFixedBytes <= AccessLine::kMaxBytes);

constexpr char kHex[] = "0123456789ABCDEF";
constexpr int kClientGone = 499;

// Bytes that stand for themselves in both formats.
constexpr auto kPlain = [] {
    std::array<bool, 256> table{};
    for (unsigned c = 0x20; c < 0x7f; ++c) table[c] = c != '"' && c != '\\';
    return table;
}();

char* put(char* to, std::string_view text) {
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

char* put(char* to, std::uint64_t number) { return std::to_chars(to, to + 20, number).ptr; }

// Writes what stands for itself at the beginning of `text` and takes it off.
char* putPlain(char* to, std::string_view& text) {
    std::size_t length = 0;
    while (length < text.size() && kPlain[static_cast<unsigned char>(text[length])]) ++length;
    to = put(to, text.substr(0, length));
    text.remove_prefix(length);
    return to;
}

char* putByte(char* to, char c, std::string_view how) {
    to = put(to, how);
    *to++ = kHex[static_cast<unsigned char>(c) >> 4];
    *to++ = kHex[static_cast<unsigned char>(c) & 15];
    return to;
}

char* putCombined(char* to, std::string_view text, std::size_t limit) {
    if (text.empty()) return put(to, "-");
    std::string_view rest = text.substr(0, limit);
    for (to = putPlain(to, rest); !rest.empty(); to = putPlain(to, rest)) {
        to = putByte(to, rest[0], "\\x");
        rest.remove_prefix(1);
    }
    return text.size() > limit ? put(to, "...") : to;
}

// The character of `length` bytes that `text` begins with, which is not plain; length 0: a byte that is not UTF-8.
char* putUnusual(char* to, std::string_view text, std::size_t length) {
    const char c = text[0];
    if (length == 0) return putByte(to, c, "\\\\x");
    if (c == '"' || c == '\\') {
        *to++ = '\\';
        *to++ = c;
        return to;
    }
    if (length == 1) return putByte(to, c, "\\u00");
    const std::string_view character = text.substr(0, length);
    if (length == 2 && c == '\xc2' && text[1] < '\xa0') return putByte(to, text[1], "\\u00");
    if (character == "\xe2\x80\xa8") return put(to, "\\u2028");
    if (character == "\xe2\x80\xa9") return put(to, "\\u2029");
    return put(to, character);
}

// The part of `text` that is kept; not the beginning of a character alone.
std::string_view cut(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text;
    std::size_t start = limit;
    while (start > 0 && limit - start < 3 && (text[start] & 0xC0) == 0x80) --start;
    return text.substr(0, start + base::utf8Length(text.substr(start)) > limit ? start : limit);
}

char* putJson(char* to, std::string_view key, std::string_view text, std::size_t limit) {
    if (text.empty()) return to;
    to = put(to, key);
    std::string_view rest = cut(text, limit);
    const bool whole = rest.size() == text.size();
    for (to = putPlain(to, rest); !rest.empty(); to = putPlain(to, rest)) {
        const std::size_t length = base::utf8Length(rest);
        to = putUnusual(to, rest, length);
        rest.remove_prefix(std::max<std::size_t>(length, 1));
    }
    if (!whole) to = put(to, "...");
    return put(to, "\"");
}

std::string_view protocol(int version) { return version == 10 ? "HTTP/1.0" : "HTTP/1.1"; }

std::uint64_t loggedStatus(const AccessRecord& record) {
    return static_cast<std::uint64_t>(record.status ? record.status : kClientGone);
}

bool isNamed(const http::FieldTable::Field& field, std::string_view name) {
    return field.name.size() == name.size() && http::equalsIgnoreCase(field.name, name);
}

}  // namespace

AccessRecord accessRecord(const chain::Exchange& exchange) {
    AccessRecord record;
    record.client = exchange.clientAddress;
    record.method = exchange.request.method;
    record.target = exchange.request.target;
    record.version = exchange.request.version;
    record.status = exchange.committed() ? exchange.response.head.status : 0;
    record.requestId = exchange.requestId;
    std::string_view traceparent;
    for (const http::FieldTable::Field& field : exchange.request.fields) {
        if (field.parsed && !record.referer.data() && isNamed(field, "referer")) {
            record.referer = field.value;
        } else if (field.parsed && !record.userAgent.data() && isNamed(field, "user-agent")) {
            record.userAgent = field.value;
        } else if (field.alive() && isNamed(field, kTraceparent)) {
            traceparent = field.value;
        }
    }
    if (const auto trace = parseTraceparent(traceparent)) record.traceId = trace->traceId;
    return record;
}

std::size_t AccessLine::bound(const AccessRecord& record) {
    std::size_t bytes = std::min(record.target.size(), kTargetBytes) + std::min(record.referer.size(), kRefererBytes) +
                        std::min(record.userAgent.size(), kUserAgentBytes) +
                        std::min(record.upstream.size(), kUpstreamBytes);
    for (const std::string_view text : {record.client, record.method, record.requestId, record.traceId,
                                        record.selector, record.rule}) {
        bytes += std::min(text.size(), kOtherBytes);
    }
    return kLongestEscape * bytes + kFixedBytes;
}

char* AccessLine::write(char* to, const AccessRecord& record) {
    const auto second = static_cast<std::time_t>(record.beganMs / 1000);
    if (second != second_) formatTime(second);
    return json_ ? writeJson(to, record) : writeCombined(to, record);
}

char* AccessLine::writeCombined(char* to, const AccessRecord& record) const {
    to = putCombined(to, record.client, kOtherBytes);
    to = put(to, " - - [");
    to = put(to, std::string_view(time_, timeLength_));
    to = put(to, "] \"");
    to = putCombined(to, record.method, kOtherBytes);
    if (!record.method.empty()) {
        *to++ = ' ';
        to = putCombined(to, record.target, kTargetBytes);
        *to++ = ' ';
        to = put(to, protocol(record.version));
    }
    to = put(to, "\" ");
    to = put(to, loggedStatus(record));
    *to++ = ' ';
    to = put(to, record.bodyBytes);
    to = put(to, " \"");
    to = putCombined(to, record.referer, kRefererBytes);
    to = put(to, "\" \"");
    to = putCombined(to, record.userAgent, kUserAgentBytes);
    return put(to, "\"\n");
}

char* AccessLine::writeJson(char* to, const AccessRecord& record) const {
    const auto milliseconds = static_cast<unsigned>(record.beganMs % 1000);
    to = put(to, "{\"time\":\"");
    to = put(to, std::string_view(time_, timeLength_));
    *to++ = '.';
    for (const unsigned unit : {100u, 10u, 1u}) *to++ = static_cast<char>('0' + milliseconds / unit % 10);
    to = put(to, "Z\"");
    to = putJson(to, ",\"client\":\"", record.client, kOtherBytes);
    to = putJson(to, ",\"method\":\"", record.method, kOtherBytes);
    to = putJson(to, ",\"target\":\"", record.target, kTargetBytes);
    if (!record.method.empty()) {
        to = put(to, ",\"protocol\":\"");
        to = put(to, protocol(record.version));
        *to++ = '"';
    }
    to = put(to, ",\"status\":");
    to = put(to, loggedStatus(record));
    to = put(to, ",\"bytes\":");
    to = put(to, record.bodyBytes);
    to = putJson(to, ",\"referer\":\"", record.referer, kRefererBytes);
    to = putJson(to, ",\"userAgent\":\"", record.userAgent, kUserAgentBytes);
    to = put(to, ",\"durationUs\":");
    to = put(to, record.durationUs);
    to = putJson(to, ",\"upstream\":\"", record.upstream, kUpstreamBytes);
    if (!record.upstream.empty()) {
        to = put(to, ",\"upstreamUs\":");
        to = put(to, record.upstreamUs);
    }
    to = putJson(to, ",\"requestId\":\"", record.requestId, kOtherBytes);
    to = putJson(to, ",\"traceId\":\"", record.traceId, kOtherBytes);
    to = putJson(to, ",\"selector\":\"", record.selector, kOtherBytes);
    to = putJson(to, ",\"rule\":\"", record.rule, kOtherBytes);
    return put(to, record.aborted ? ",\"ended\":\"aborted\"}\n" : ",\"ended\":\"ok\"}\n");
}

// Once a second at most: the system's time zone is behind a lock.
void AccessLine::formatTime(std::time_t second) {
    static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    second_ = second;
    std::tm tm{};
    int length = 0;
    if (json_) {
        ::gmtime_r(&second, &tm);
        length = std::snprintf(time_, sizeof time_, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
                               tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
    } else {
        ::localtime_r(&second, &tm);
        const long minutes = std::labs(tm.tm_gmtoff / 60);
        length = std::snprintf(time_, sizeof time_, "%02d/%s/%04d:%02d:%02d:%02d %c%02ld%02ld", tm.tm_mday,
                               kMonths[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec,
                               tm.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
    }
    timeLength_ = std::min(static_cast<std::size_t>(length), sizeof time_ - 1);
}

}  // namespace weir::gateway
