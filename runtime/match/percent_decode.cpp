#include "match/percent_decode.hpp"

namespace weir::match {
namespace {

int hexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

std::string_view DecodeBuffer::decode(std::string_view text, Plus plus) {
    // find() searches with memchr, find_first_of() character by character.
    if (text.find('%') == std::string_view::npos &&
        (plus == Plus::Literal || text.find('+') == std::string_view::npos)) {
        return text;
    }
    char* out = inline_;
    if (text.size() > kInline) {
        heap_.resize(text.size());
        out = heap_.data();
    }
    std::size_t size = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '%' && i + 2 < text.size() && hexDigit(text[i + 1]) >= 0 &&
                            hexDigit(text[i + 2]) >= 0;
        if (escape) {
            out[size++] = static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
            i += 2;
        } else {
            out[size++] = text[i] == '+' && plus == Plus::Space ? ' ' : text[i];
        }
    }
    return {out, size};
}

}  // namespace weir::match
