#include "http/head_framing.hpp"

#include <limits>

namespace weir::http {

namespace {

constexpr std::uint64_t kMaxLength = std::numeric_limits<std::int64_t>::max();

// Takes the next element off a comma-separated list that is not empty; data() of the rest is null at the end.
std::string_view takeElement(std::string_view& list) {
    const std::size_t comma = list.find(',');
    const std::string_view element = trimmed(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    return element;
}

bool readLength(std::string_view text, std::uint64_t& length) {
    length = 0;
    for (char c : text) {
        if (c < '0' || c > '9' || length > kMaxLength / 10) return false;
        length = length * 10 + static_cast<unsigned>(c - '0');
    }
    return !text.empty() && length <= kMaxLength;
}

// Only "chunked" will do: another coding may be known to somebody else (501), anything malformed is 400.
ParseError checkCodings(std::string_view value) {
    if (equalsIgnoreCase(value, "chunked")) return {};
    bool unknown = false;
    while (value.data()) {
        const std::string_view coding = takeElement(value);
        if (!isFieldName(coding)) return {400, "Transfer-Encoding malformed"};
        unknown = unknown || !equalsIgnoreCase(coding, "chunked");
    }
    if (unknown) return {501, "unknown transfer coding"};
    return {400, "chunked twice"};
}

}  // namespace

HeadFraming::Line HeadFraming::take(FieldId id, std::string_view value) {
    switch (id) {
    case FieldId::ContentLength:
        return takeLength(value);
    case FieldId::TransferEncoding:
        if (chunked()) {
            why = "Transfer-Encoding twice";
            return Line::Refused;
        }
        coding = value;
        return Line::Keep;
    case FieldId::Host:
        if (ofRequest && host.data()) {
            why = "Host twice";
            return Line::Refused;
        }
        host = value;
        return Line::Keep;
    case FieldId::Connection:
        takeConnection(value);
        return Line::Keep;
    case FieldId::Expect:
        expectContinue = expectContinue || equalsIgnoreCase(value, "100-continue");
        return Line::Keep;
    default:
        return Line::Keep;
    }
}

HeadFraming::Line HeadFraming::takeLength(std::string_view value) {
    std::uint64_t said;
    if (!readLength(value, said)) {
        why = "Content-Length malformed";
        return Line::Refused;
    }
    if (hasLength) {
        if (!ofRequest && said == length) return Line::Twin;
        why = "Content-Length twice";
        return Line::Refused;
    }
    hasLength = true;
    length = said;
    return Line::Keep;
}

void HeadFraming::takeConnection(std::string_view list) {
    if (list == "keep-alive") {  // what most say
        keepAlive = true;
        return;
    }
    while (list.data()) {
        const std::string_view option = takeElement(list);
        close = close || equalsIgnoreCase(option, "close");
        keepAlive = keepAlive || equalsIgnoreCase(option, "keep-alive");
        upgrade = upgrade || equalsIgnoreCase(option, "upgrade");
    }
}

ParseError HeadFraming::checkCoding(int version) const {
    if (version < 11) return {400, "Transfer-Encoding in HTTP/1.0"};
    if (hasLength) return {400, "Transfer-Encoding with Content-Length"};
    return checkCodings(coding);
}

}  // namespace weir::http
