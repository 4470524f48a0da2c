#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::match {

// Bytes looked at and places of tables visited, so that tests can hold matching to a bound. Counted only in the library
// weir_match_counted, which those tests link in place of weir_match; elsewhere this is nothing. RE2 keeps its own
// promise: a text it is given counts once.
#ifdef WEIR_COUNT_STEPS
inline thread_local std::uint64_t stepsCounted = 0;
inline void countSteps(std::size_t count) { stepsCounted += count; }
#else
constexpr void countSteps(std::size_t) {}
#endif

}  // namespace weir::match
