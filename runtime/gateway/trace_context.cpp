#include "gateway/trace_context.hpp"

#include <cstring>

namespace weir::gateway {

namespace {

bool isHex(std::string_view text) {
    for (const char c : text) {
        if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) return false;
    }
    return true;
}

bool isId(std::string_view text) { return isHex(text) && text.find_first_not_of('0') != text.npos; }

}  // namespace

std::optional<TraceParent> parseTraceparent(std::string_view value) {
    if (value.size() < kTraceparentLength) return std::nullopt;
    if (value[2] != '-' || value[35] != '-' || value[52] != '-') return std::nullopt;
    const std::string_view version = value.substr(0, 2);
    if (!isHex(version) || version == "ff") return std::nullopt;
    if (value.size() > kTraceparentLength && (version == "00" || value[kTraceparentLength] != '-')) return std::nullopt;
    const TraceParent parent{value.substr(3, 32), value.substr(36, 16), value.substr(53, 2)};
    if (!isId(parent.traceId) || !isId(parent.parentId) || !isHex(parent.flags)) return std::nullopt;
    return parent;
}

void writeTraceparent(char* to, std::string_view traceId, IdSource& ids) {
    std::memcpy(to, "00-", 3);
    std::memcpy(to + 3, traceId.data(), IdSource::kIdDigits);
    to[35] = '-';
    ids.writeSpanId(to + 36);
    std::memcpy(to + 52, "-01", 3);
}

}  // namespace weir::gateway
