#pragma once

#include <cstddef>
#include <string_view>

namespace weir::base {

// Bytes of the UTF-8 character that `text` begins with: 1 to 4, or 0 when it begins with none (empty, a stray or
// missing continuation byte, an overlong form, a surrogate, above U+10FFFF).
inline std::size_t utf8Length(std::string_view text) {
    auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    auto tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
    unsigned first = byte(0);
    if (first < 0x80) return text.empty() ? 0 : 1;
    if (first < 0xC2) return 0;
    if (first < 0xE0) return tail(1) ? 2 : 0;
    if (first < 0xF0) {
        if (!tail(1) || !tail(2)) return 0;
        bool overlong = first == 0xE0 && byte(1) < 0xA0;
        bool surrogate = first == 0xED && byte(1) > 0x9F;
        return overlong || surrogate ? 0 : 3;
    }
    if (first > 0xF4 || !tail(1) || !tail(2) || !tail(3)) return 0;
    bool overlong = first == 0xF0 && byte(1) < 0x90;
    bool tooHigh = first == 0xF4 && byte(1) > 0x8F;
    return overlong || tooHigh ? 0 : 4;
}

}  // namespace weir::base
