#pragma once

#include <string>
#include <string_view>

namespace weir::cross {

// A list of names in the value of a header: separated by commas, blanks around them do not count, nor does case.

// The names of `first`, then those of `second` that are not among them. `*`, which means all, stands alone.
std::string joinNames(std::string_view first, std::string_view second);

// Whether `list` has the name.
bool hasName(std::string_view list, std::string_view name);

// The first item that is no name; "" when there is none.
std::string_view faultyName(std::string_view list);

}  // namespace weir::cross
