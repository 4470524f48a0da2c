#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace weir::base {

// Eight bytes at a time, for texts that are compared or copied. Plain 64-bit arithmetic: any machine, no alignment.
using ByteWord = std::uint64_t;

constexpr ByteWord everyByte(unsigned char c) { return c * ByteWord{0x0101010101010101}; }

inline ByteWord loadWord(const char* bytes) {
    ByteWord word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// The word that loadWord() makes of the eight bytes of a literal.
constexpr ByteWord wordOf(const char (&text)[9]) {
    std::array<char, 8> bytes;
    std::copy_n(text, 8, bytes.begin());
    return std::bit_cast<ByteWord>(bytes);
}

// One to eight bytes as one word, two of which are the same for texts of one size exactly when the texts are.
inline ByteWord loadShort(const char* bytes, std::size_t size) {
    if (size < 4) {
        const auto at = [bytes](std::size_t i) { return ByteWord{static_cast<unsigned char>(bytes[i])}; };
        return at(0) | at(size / 2) << 8 | at(size - 1) << 16;
    }
    std::uint32_t first, last;
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(&last, bytes + size - sizeof last, sizeof last);
    return first | ByteWord{last} << 32;
}

// Whether two texts of `size` bytes, not 0, are the same for `same`, which says it of two words.
template <class Same>
bool sameWords(const char* a, const char* b, std::size_t size, Same same) {
    if (size < 8) return same(loadShort(a, size), loadShort(b, size));
    for (std::size_t at = 0; at + 8 < size; at += 8)
        if (!same(loadWord(a + at), loadWord(b + at))) return false;
    return same(loadWord(a + size - 8), loadWord(b + size - 8));  // reaches back into the word before
}

// ASCII letters in lower case, other bytes as they are.
constexpr ByteWord toLowerWord(ByteWord word) {
    const ByteWord low = word & everyByte(0x7f);
    const ByteWord upper = (low + everyByte(0x80 - 'A')) & ~(low + everyByte(0x7f - 'Z')) & ~word & everyByte(0x80);
    return word | upper >> 2;
}

// Sixteen bytes at a time, for what every byte of every head is asked: a vector of the compiler's, which any machine
// has. A comparison makes a RowMask, all bits of a byte set or none.
using ByteRow = unsigned char __attribute__((vector_size(16)));
using RowMask = signed char __attribute__((vector_size(16)));

inline ByteRow loadRow(const char* bytes) {
    ByteRow row;
    std::memcpy(&row, bytes, sizeof row);
    return row;
}

// Copies a text to where it does not stand; returns the place behind it. Most are short, and a call of memcpy costs
// more than two overlapping moves.
inline char* copyText(char* to, std::string_view text) {
    const char* const from = text.data();
    const std::size_t size = text.size();
    if (size >= 16 && size <= 32) {
        const ByteRow first = loadRow(from), last = loadRow(from + size - 16);
        std::memcpy(to, &first, 16);
        std::memcpy(to + size - 16, &last, 16);
    } else if (size >= 8 && size < 16) {
        const ByteWord first = loadWord(from), last = loadWord(from + size - 8);
        std::memcpy(to, &first, 8);
        std::memcpy(to + size - 8, &last, 8);
    } else if (size != 0) {
        std::memcpy(to, from, size);
    }
    return to + size;
}

// A bit for each byte that is set, the lowest for the first.
inline unsigned bitsOf(RowMask mask) {
#ifdef __SSE2__
    return static_cast<unsigned>(_mm_movemask_epi8(__m128i(mask)));
#else
    unsigned bits = 0;
    for (unsigned i = 0; i < 16; ++i) bits |= (mask[i] & 1u) << i;
    return bits;
#endif
}

constexpr bool inRange(unsigned char c, unsigned char first, unsigned char last) { return c >= first && c <= last; }
inline RowMask inRange(ByteRow row, unsigned char first, unsigned char last) {
    return row - first <= static_cast<unsigned char>(last - first);
}

// The first place in [at, end) that `here` (const char* -> bool) is true of, else end. `row` (const char* -> RowMask)
// says the same of sixteen places. Inlined by force, as findByte is: a call for each text would cost half of it.
template <class Row, class Here>
[[gnu::always_inline]] inline const char* findPlace(const char* at, const char* end, Row row, Here here) {
    if (end - at >= 16) {
        for (const char* const last = end - 16;; at = std::min(at + 16, last)) {  // the last row reaches back
            if (const unsigned bits = bitsOf(row(at))) return at + std::countr_zero(bits);
            if (at == last) return end;
        }
    }
    while (at != end && !here(at)) ++at;
    return at;
}

// The first byte in [at, end) that `is` true of, else end. `is` takes an unsigned char as well as a ByteRow, so it is
// made of comparisons, inRange, !, & and |.
template <class Is>
[[gnu::always_inline]] inline const char* findByte(const char* at, const char* end, Is is) {
    const auto row = [is](const char* p) { return is(loadRow(p)); };
    const auto here = [is](const char* p) { return is(static_cast<unsigned char>(*p)); };
    return findPlace(at, end, row, here);
}

// The first byte in [at, end) that `is` true of with the one behind it, else end; *end can be read.
template <class Is>
const char* findPair(const char* at, const char* end, Is is) {
    const auto row = [is](const char* p) { return is(loadRow(p), loadRow(p + 1)); };
    const auto here = [is](const char* p) {
        return is(static_cast<unsigned char>(p[0]), static_cast<unsigned char>(p[1]));
    };
    return findPlace(at, end, row, here);
}

}  // namespace weir::base
