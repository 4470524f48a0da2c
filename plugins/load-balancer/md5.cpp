#include "md5.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace weir::balance {

namespace {

constexpr std::size_t kBlock = 64;

// floor(2^32 * abs(sin(i + 1))), RFC 1321 3.4.
constexpr std::uint32_t kSine[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

constexpr int kShift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

using State = std::array<std::uint32_t, 4>;

void addBlock(State& state, const std::uint8_t* bytes) noexcept {
    std::uint32_t words[16];
    for (std::size_t i = 0; i < 16; ++i) {
        words[i] = bytes[4 * i] | std::uint32_t{bytes[4 * i + 1]} << 8 | std::uint32_t{bytes[4 * i + 2]} << 16 |
                   std::uint32_t{bytes[4 * i + 3]} << 24;
    }
    auto [a, b, c, d] = state;
    for (std::uint32_t i = 0; i < 64; ++i) {
        const std::uint32_t round = i / 16;
        const std::uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                                    : round == 1 ? (b & d) | (c & ~d)
                                    : round == 2 ? b ^ c ^ d
                                                 : c ^ (b | ~d);
        const std::uint32_t word = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
        const std::uint32_t sum = a + mixed + kSine[i] + words[word % 16];
        a = d;
        d = c;
        c = b;
        b += std::rotl(sum, kShift[round][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

}  // namespace

std::array<std::uint8_t, 16> md5(std::string_view text) noexcept {
    State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    std::size_t left = text.size();
    for (; left >= kBlock; left -= kBlock, bytes += kBlock) addBlock(state, bytes);

    // The rest, a one bit, zeros, and the length in bits: one block or two.
    std::uint8_t tail[2 * kBlock] = {};
    std::copy_n(bytes, left, tail);
    tail[left] = 0x80;
    const std::size_t size = left + 9 <= kBlock ? kBlock : 2 * kBlock;
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    for (std::size_t i = 0; i < 8; ++i) tail[size - 8 + i] = static_cast<std::uint8_t>(bits >> 8 * i);
    for (std::size_t at = 0; at < size; at += kBlock) addBlock(state, tail + at);

    std::array<std::uint8_t, 16> digest{};
    for (std::size_t i = 0; i < 16; ++i) digest[i] = static_cast<std::uint8_t>(state[i / 4] >> 8 * (i % 4));
    return digest;
}

}  // namespace weir::balance
