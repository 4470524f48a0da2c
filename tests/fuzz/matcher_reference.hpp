#pragma once

#include <cstddef>
#include <string>

#include "match/condition.hpp"
#include "match/subject.hpp"

namespace weir::fuzz {

// Whether a condition holds for `value` by the plainest reading of what is written, as slow as it likes to be. Of
// runtime/match it asks only for regular expressions, numbers and times.
bool referenceHolds(const match::ConditionSpec& spec, std::string value, const match::Condition& condition,
                    const match::Subject& subject);

// The most segments between two `**` of an Ant pattern; 0 for other conditions.
std::size_t mostBetween(const match::ConditionSpec& spec);

}  // namespace weir::fuzz
