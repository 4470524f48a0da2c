#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/byte_words.hpp"

namespace weir::base {

// ASCII only, whatever the locale: protocols and file formats know no other case.
constexpr char toLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

inline std::string toLower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = toLower(c);
    return lower;
}

inline bool equalsIgnoreCase(std::string_view a, std::string_view b) {
    const std::size_t size = a.size();
    if (size != b.size()) return false;
    if (size < 4) {
        for (std::size_t i = 0; i < size; ++i)
            if (toLower(a[i]) != toLower(b[i])) return false;
        return true;
    }
    constexpr auto same = [](ByteWord x, ByteWord y) { return x == y || toLowerWord(x) == toLowerWord(y); };
    if (size < 8) return same(loadShort(a.data(), size), loadShort(b.data(), size));
    for (std::size_t at = 0; at < size; at += 8) {
        const std::size_t from = std::min(at, size - 8);  // the last word reaches back into the one before
        if (!same(loadWord(a.data() + from), loadWord(b.data() + from))) return false;
    }
    return true;
}

}  // namespace weir::base
