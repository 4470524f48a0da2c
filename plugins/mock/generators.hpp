#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weir::mock {

// Made up values. Any thread: each has a generator of its own, whose numbers are good enough for examples only.
std::int64_t drawWhole(std::int64_t from, std::int64_t to);  // both ends are possible; from <= to
double drawNumber(double from, double to);
std::string drawEmail();
std::string drawPhone();                      // 11 digits, as mobile numbers in China
std::string drawChinese(std::size_t length);  // in characters
std::string drawLetters(std::size_t length);  // A to Z, a to z

}  // namespace weir::mock
