#pragma once

#include <array>
#include <string_view>

namespace weir::base {

namespace detail {
constexpr auto hexPairs(std::string_view digits) {
    std::array<char, 512> pairs{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        pairs[2 * byte] = digits[byte >> 4];
        pairs[2 * byte + 1] = digits[byte & 15];
    }
    return pairs;
}
inline constexpr auto kHexPairs = hexPairs("0123456789abcdef");
inline constexpr auto kUpperHexPairs = hexPairs("0123456789ABCDEF");
}  // namespace detail

// The two digits of a byte: "0f", in upper case "0F". Static text.
constexpr std::string_view hexOf(unsigned char byte) { return {&detail::kHexPairs[2u * byte], 2}; }
constexpr std::string_view upperHexOf(unsigned char byte) { return {&detail::kUpperHexPairs[2u * byte], 2}; }

}  // namespace weir::base
