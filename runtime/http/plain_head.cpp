#include "http/plain_head.hpp"

#include <algorithm>
#include <cstring>

#include "base/byte_words.hpp"
#include "http/request_target.hpp"

namespace weir::http {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isBlank(char c) { return c == ' ' || c == '\t'; }

// These two are for the loop over the lines; each has a second caller, for which g++ would not inline them.

// Behind the bytes that a field value or a reason phrase is made of.
[[gnu::always_inline]] inline const char* textEnd(const char* at, const char* end) {
    constexpr auto isControl = [](auto c) { return (c < 0x20) | (c == 0x7f); };
    while ((at = base::findByte(at, end, isControl)) != end && *at == '\t') ++at;
    return at;
}

// Behind the bytes that a field name is made of: letters and '-', seldom another.
[[gnu::always_inline]] inline const char* nameEnd(const char* at, const char* end) {
    constexpr auto isOther = [](auto c) { return !(base::inRange(c | 0x20, 'a', 'z') | (c == '-')); };
    at = base::findByte(at, end, isOther);
    while (at != end && *at != ':' && isTokenByte(*at)) ++at;
    return at;
}

// The fields whose values matter here: Beast looks into Proxy-Connection too.
constexpr FieldIds kWeighed = HeadFraming::kHeeded | bit(FieldId::ProxyConnection);

bool isLineEnd(const char* at, const char* end) { return end - at >= 2 && std::memcmp(at, "\r\n", 2) == 0; }

// Lists, twins and combinations of what frames are for Beast.
bool takeFraming(HeadFraming& framing, FieldId id, std::string_view value, const char* end) {
    const bool list = id == FieldId::Connection || id == FieldId::ProxyConnection;
    if (list && (value.empty() || nameEnd(value.begin(), end) != value.end())) return false;
    if (id == FieldId::ContentLength && framing.chunked()) return false;
    if (id == FieldId::TransferEncoding && (framing.hasLength || !equalsIgnoreCase(value, "chunked"))) return false;
    return framing.take(id, value) == HeadFraming::Line::Keep;
}

}  // namespace

bool PlainHead::takeVersion(int& version) {
    constexpr base::ByteWord kHttp11 = base::wordOf("HTTP/1.1"), kHttp10 = base::wordOf("HTTP/1.0");
    if (end_ - at_ < 8) return false;
    const base::ByteWord word = base::loadWord(at_);
    at_ += 8;
    version = word == kHttp11 ? 11 : 10;
    return word == kHttp11 || word == kHttp10;
}

bool PlainHead::requestLine(RequestLine& line) {
    const char* const method = at_;
    while (at_ != end_ && isTokenByte(*at_)) ++at_;
    line.method = {method, at_};
    if (line.method.empty() || !take(' ')) return false;
    const char* const target = at_;
    at_ += targetRun({at_, end_});
    line.target = {target, at_};
    if (!line.target.starts_with('/') || !take(' ') || !takeVersion(line.version)) return false;
    return consumed() <= limits_.requestLine && takeLineEnd();
}

bool PlainHead::statusLine(StatusLine& line) {
    if (!takeVersion(line.version) || !take(' ') || end_ - at_ < 4) return false;
    if (!isDigit(at_[0]) || !isDigit(at_[1]) || !isDigit(at_[2]) || at_[3] != ' ') return false;
    line.status = (at_[0] - '0') * 100 + (at_[1] - '0') * 10 + (at_[2] - '0');
    at_ += 4;
    const char* const reason = at_;
    at_ = textEnd(at_, end_);
    line.reason = {reason, at_};
    return consumed() <= limits_.requestLine && takeLineEnd();
}

bool PlainHead::fieldLines(FieldTable& fields, HeadFraming& framing) {
    const char* at = at_;
    const std::size_t limit = limits_.fieldBytes + std::size_t{2};  // with the empty line
    const char* const end = at + std::min(static_cast<std::size_t>(end_ - at), limit);
    for (std::uint32_t left = limits_.fieldCount;; --left) {
        const char* const colon = nameEnd(at, end);
        if (colon == at) break;
        if (left == 0 || colon == end || *colon != ':') return false;
        const std::string_view name(at, colon);
        const FieldId id = fieldId(name);

        const char* const lineEnd = textEnd(colon + 1, end);
        if (!isLineEnd(lineEnd, end)) return false;
        at = lineEnd + 2;
        const bool verbatim = lineEnd - colon > 2 && colon[1] == ' ' && !isBlank(colon[2]) && !isBlank(lineEnd[-1]);
        const std::string_view value = verbatim ? std::string_view(colon + 2, lineEnd) : trimmed({colon + 1, lineEnd});
        if ((kWeighed & bit(id)) && !takeFraming(framing, id, value, end)) return false;
        fields.append(id, name, value, verbatim);
    }
    if (!isLineEnd(at, end)) return false;
    at_ = at + 2;
    return true;
}

}  // namespace weir::http
