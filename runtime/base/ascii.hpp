#pragma once

#include <string>
#include <string_view>

namespace weir::base {

// ASCII only, whatever the locale: protocols and file formats know no other case.
constexpr char toLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

inline std::string toLower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = toLower(c);
    return lower;
}

}  // namespace weir::base
