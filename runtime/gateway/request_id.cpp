#include "gateway/request_id.hpp"

#include <unistd.h>

#include <array>
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

// The two digits of each byte. Each request writes 48 digits: one by one they were 2 % of its instructions.
constexpr auto kHexPairs = [] {
    std::array<char, 512> pairs{};
    for (std::size_t byte = 0; byte < 256; ++byte) {
        pairs[2 * byte] = "0123456789abcdef"[byte >> 4];
        pairs[2 * byte + 1] = "0123456789abcdef"[byte & 15];
    }
    return pairs;
}();

void writeHex(char* to, std::uint64_t number) {
    for (int i = 14; i >= 0; i -= 2, number >>= 8) std::memcpy(to + i, &kHexPairs[2 * (number & 255)], 2);
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
