#pragma once

// Catch2 2.13 (Debian 12) and Catch2 3 name their headers and some matchers differently; the tests use 2.13's names.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

#include <string>

namespace Catch {
using Matchers::EndsWith;
using Matchers::StartsWith;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif
