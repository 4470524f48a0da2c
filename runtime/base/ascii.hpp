#pragma once

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
    constexpr auto same = [](ByteWord x, ByteWord y) { return x == y || toLowerWord(x) == toLowerWord(y); };
    return a.size() == b.size() && (a.empty() || sameWords(a.data(), b.data(), a.size(), same));
}

}  // namespace weir::base
