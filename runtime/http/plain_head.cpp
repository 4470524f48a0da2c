#include "http/plain_head.hpp"

#include "base/byte_words.hpp"
#include "http/request_target.hpp"

namespace weir::http {

namespace {

using base::ByteWord;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isBlank(char c) { return c == ' ' || c == '\t'; }

// Control bytes, HTAB too.
constexpr ByteWord controlBytes(ByteWord word) { return base::bytesBelow(word, 0x20) | base::bytesEqual(word, 0x7f); }
constexpr bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

constexpr ByteWord colons(ByteWord word) { return base::bytesEqual(word, ':'); }
constexpr bool isColon(char c) { return c == ':'; }

// Behind the bytes that a field value or a reason phrase is made of.
const char* textEnd(const char* at, const char* end) {
    while ((at = base::findByte(at, end, controlBytes, isControl)) != end && *at == '\t') ++at;
    return at;
}

// The fields that say something about framing and persistence.
constexpr bool frames(FieldId id) {
    return id == FieldId::Connection || id == FieldId::ContentLength || id == FieldId::Expect || id == FieldId::Host ||
           id == FieldId::ProxyConnection || id == FieldId::TransferEncoding;
}

bool isLineEnd(const char* at, const char* end) { return end - at >= 2 && at[0] == '\r' && at[1] == '\n'; }

}  // namespace

bool PlainHead::take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
}

bool PlainHead::takeLineEnd() {
    if (!isLineEnd(at_, end_)) return false;
    at_ += 2;
    return true;
}

bool PlainHead::takeVersion(int& version) {
    constexpr std::string_view kName = "HTTP/1.";
    if (static_cast<std::size_t>(end_ - at_) <= kName.size() || !std::string_view(at_, end_).starts_with(kName))
        return false;
    const char minor = at_[kName.size()];
    at_ += kName.size() + 1;
    version = minor == '0' ? 10 : 11;
    return minor == '0' || minor == '1';
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

bool PlainHead::fieldLines(bool ofRequest, FieldTable& fields, HeadFraming& framing) {
    const char* const first = at_;
    for (std::uint32_t count = 0; !takeLineEnd(); ++count) {
        const char* const colon = base::findByte(at_, end_, colons, isColon);
        if (colon == end_ || count == limits_.fieldCount) return false;
        const std::string_view name(at_, colon);
        const FieldId id = fieldId(name);
        if (id == FieldId::Other && !isFieldName(name)) return false;  // a known one is a token

        const char* begin = colon + 1;
        while (begin != end_ && isBlank(*begin)) ++begin;
        const char* const lineEnd = textEnd(begin, end_);
        if (!isLineEnd(lineEnd, end_)) return false;
        const char* end = lineEnd;
        while (end != begin && isBlank(end[-1])) --end;
        at_ = lineEnd + 2;
        if (static_cast<std::size_t>(at_ - first) > limits_.fieldBytes) return false;

        const std::string_view value(begin, end);
        if (frames(id) && !takeFraming(ofRequest, id, value, framing)) return false;
        const bool verbatim = begin == colon + 2 && colon[1] == ' ' && end == lineEnd;
        fields.append(id, name, value, verbatim);
    }
    return true;
}

// Lists, twins and combinations of what frames are for Beast.
bool PlainHead::takeFraming(bool ofRequest, FieldId id, std::string_view value, HeadFraming& framing) {
    switch (id) {
    case FieldId::Connection:
    case FieldId::ProxyConnection:
        if (!isFieldName(value)) return false;
        break;
    case FieldId::ContentLength:
        if (framing.chunked()) return false;
        break;
    case FieldId::TransferEncoding:
        if (framing.hasLength || !equalsIgnoreCase(value, "chunked")) return false;
        break;
    default:
        break;
    }
    std::string_view why;
    return framing.take(ofRequest, id, value, why) == HeadFraming::Line::Keep;
}

}  // namespace weir::http
