#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/value.hpp"

// How everything that reads configuration words its complaints: file:line:column: what is wrong, what was expected.
namespace weir::config {

// "weir.yaml:12:7"; only the name when the place is unknown.
std::string place(std::string_view fileName, base::Mark mark);

// An InvalidConfig error at that place.
base::Error invalid(std::string_view fileName, base::Mark mark, std::string message);

// What stands there instead of what was expected: `got "flase"`, `got a list`, `got nothing`. Long texts are cut.
std::string got(const base::Value& value);

// `unknown key "prot"; did you mean "port"?`, or the keys that exist when none is near.
std::string unknownKey(std::string_view key, const std::vector<std::string_view>& known);

// `; did you mean "port"?` or "".
std::string didYouMean(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace weir::config
