#include "gateway/request_id.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace weir::gateway {

namespace {

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // SplitMix64's step and mixing, a one-to-one function

std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

// Sixteen digits at once: each request writes 48 of them, which were 2 % of its instructions one by one. Ids are random,
// so the order of the bytes does not matter.
void writeHex(char* to, std::uint64_t number) {
    using Words = std::uint64_t __attribute__((vector_size(16)));
    using Digits = signed char __attribute__((vector_size(16)));
    auto digits = reinterpret_cast<Digits>(Words{number >> 4, number} & 0x0f0f0f0f0f0f0f0f);
    digits += '0' + ((digits > 9) & ('a' - '9' - 1));
    std::memcpy(to, &digits, sizeof digits);
}

}  // namespace

IdSource::IdSource() {
    std::uint64_t seed[2];
    if (::getentropy(seed, sizeof seed) != 0) throw std::system_error(errno, std::generic_category(), "getentropy");
    high_ = seed[0];
    low_ = seed[1];
}

// Both halves run through all numbers; 0 mixes to 0, and an id must not be that.
void IdSource::step() {
    high_ += kOdd;
    do low_ += kOdd;
    while (low_ == 0);
}

void IdSource::writeId(char* digits) {
    step();
    writeHex(digits, mixed(high_));
    writeHex(digits + 16, mixed(low_));
}

void IdSource::writeSpanId(char* digits) {
    step();
    writeHex(digits, mixed(low_));
}

bool isRequestId(std::string_view text) {
    if (text.empty() || text.size() > 128) return false;
    for (const char c : text) {
        const bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alnum && c != '.' && c != '_' && c != '-') return false;
    }
    return true;
}

}  // namespace weir::gateway
