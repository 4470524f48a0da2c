#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "match/anchor.hpp"
#include "match/value_source.hpp"

namespace weir::match {

// What can be told without the test.
enum class Shortcut : std::uint8_t {
    None,
    Equal,  // all: the value must be `expected`, there is no test
    Below,  // that `expected` passes, and so does what begins with it and '/'
};

// A built-in operator (fact sheet 3.4) bound to its paramValue.
struct BoundOperator {
    std::unique_ptr<const ValueTest> test;
    Anchor anchor;
    std::string remark;  // not empty: a warning, such as that it can never hold
    Shortcut shortcut = Shortcut::None;
    std::string expected;  // for the shortcut
};

// The names built in.
std::vector<std::string_view> operatorNames();

// `expected`: the paramValue, trimmed. `source`: where the values will come from; without one, a time compares now.
// InvalidConfig for an `expected` that the operator refuses, NotFound for a name that is not built in.
base::Result<BoundOperator> bindOperator(std::string_view name, std::string_view expected, const ValueSource& source);

// Whether `name` compares now when the paramName is empty, so that it needs no value.
bool comparesNow(std::string_view name, std::string_view paramName);

}  // namespace weir::match
