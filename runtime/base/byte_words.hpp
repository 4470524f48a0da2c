#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace weir::base {

// Eight bytes at a time, for what every byte of every head is asked. Plain 64-bit arithmetic: any machine, no
// alignment. A mask has the high bit of each byte that was asked for; whether it is 0 is exact, beyond its lowest set
// bit it may be wrong.
using ByteWord = std::uint64_t;

constexpr ByteWord everyByte(unsigned char c) { return c * ByteWord{0x0101010101010101}; }

inline ByteWord loadWord(const char* bytes) {
    ByteWord word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// Four to eight bytes as one word, two of which are the same for texts of one size exactly when the texts are.
inline ByteWord loadShort(const char* bytes, std::size_t size) {
    std::uint32_t first, last;
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(&last, bytes + size - sizeof last, sizeof last);
    return first | ByteWord{last} << 32;
}

// Masks of the bytes below `limit` (at most 0x80) and of those that are `c`.
constexpr ByteWord bytesBelow(ByteWord word, unsigned char limit) {
    return (word - everyByte(limit)) & ~word & everyByte(0x80);
}
constexpr ByteWord bytesEqual(ByteWord word, unsigned char c) { return bytesBelow(word ^ everyByte(c), 1); }

// ASCII letters in lower case, other bytes as they are.
constexpr ByteWord toLowerWord(ByteWord word) {
    const ByteWord low = word & everyByte(0x7f);
    const ByteWord upper = (low + everyByte(0x80 - 'A')) & ~(low + everyByte(0x7f - 'Z')) & ~word & everyByte(0x80);
    return word | upper >> 2;
}

// The first byte in [at, end) that `isByte` (char -> bool) is true of, else end. `mask` (word -> mask) says the same of
// words.
template <class Mask, class IsByte>
const char* findByte(const char* at, const char* end, Mask mask, IsByte isByte) {
    for (; end - at >= 8; at += 8) {
        const ByteWord found = mask(loadWord(at));
        if (found == 0) continue;
        if constexpr (std::endian::native == std::endian::little) return at + std::countr_zero(found) / 8;
        break;
    }
    while (at != end && !isByte(*at)) ++at;
    return at;
}

}  // namespace weir::base
