#include "match/percent_decode.hpp"

namespace weir::match {

std::string_view DecodeBuffer::decode(std::string_view text, Plus plus) {
    countSteps(text.size());
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
    const auto append = [&](char c) { out[size++] = c; };
    if (plus == Plus::Literal) {
        decodeEach(text, append);
    } else {  // an encoded plus stays one, so each part between two is decoded for itself
        for (;;) {
            const std::string_view part = text.substr(0, text.find('+'));
            decodeEach(part, append);
            if (part.size() == text.size()) break;
            append(' ');
            text.remove_prefix(part.size() + 1);
        }
    }
    return {out, size};
}

}  // namespace weir::match
