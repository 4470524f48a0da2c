#include "generators.hpp"

#include <chrono>
#include <random>
#include <string_view>

namespace weir::mock {

namespace {

// One generator a thread needs no lock, and one without a destructor keeps the module unloadable.
std::minstd_rand& generator() {
    thread_local std::minstd_rand made(
        static_cast<std::uint_fast32_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    return made;
}

constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

std::size_t drawIndex(std::size_t size) {
    return static_cast<std::size_t>(drawWhole(0, static_cast<std::int64_t>(size) - 1));
}

std::string drawFrom(std::string_view letters, std::size_t length) {
    std::string made(length, ' ');
    for (char& c : made) c = letters[drawIndex(letters.size())];
    return made;
}

}  // namespace

std::int64_t drawWhole(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(generator());
}

double drawNumber(double from, double to) {
    const double part = std::uniform_real_distribution<double>(0, 1)(generator());
    return from * (1 - part) + to * part;
}

std::string drawEmail() {
    static constexpr std::string_view kDomains[] = {"com", "org", "cn", "com.cn", "top", "edu", "io"};
    std::string made = drawFrom(kLower, 5 + drawIndex(6));
    made.append("@").append(drawFrom(kLower, 3 + drawIndex(6))).append(".");
    return made.append(kDomains[drawIndex(std::size(kDomains))]);
}

std::string drawPhone() { return "1" + drawFrom("3456789", 1) + drawFrom("0123456789", 9); }

std::string drawChinese(std::size_t length) {
    std::string made;
    made.reserve(length * 3);
    for (std::size_t i = 0; i < length; ++i) {
        const auto point = static_cast<unsigned>(drawWhole(0x4e00, 0x9fa5));  // the CJK ideographs of Unicode 1.1
        made += static_cast<char>(0xe0 | point >> 12);
        made += static_cast<char>(0x80 | (point >> 6 & 0x3f));
        made += static_cast<char>(0x80 | (point & 0x3f));
    }
    return made;
}

std::string drawLetters(std::size_t length) { return drawFrom(kLetters, length); }

}  // namespace weir::mock
