#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "base/value.hpp"

// Scalars of trees that are written out: texts are quoted, numbers and flags are not.
namespace weir::base::scalars {

inline Value text(std::string_view text) { return Value::scalar(std::string(text), true); }
template <std::integral Number>
Value number(Number number) { return Value::scalar(std::to_string(number), false); }
inline Value flag(bool flag) { return Value::scalar(flag ? "true" : "false", false); }

}  // namespace weir::base::scalars
