#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "match/anchor.hpp"
#include "match/value_source.hpp"

namespace weir::match {

// A built-in operator (fact sheet 3.4) bound to its paramValue.
struct BoundOperator {
    std::unique_ptr<const ValueTest> test;  // null: the value must be `expected`
    Anchor anchor;
    std::string expected;
    std::string remark;  // not empty: a warning, such as that it can never hold
};

// The names built in.
std::vector<std::string_view> operatorNames();

// `expected`: the paramValue, trimmed. `source`: where the values will come from; without one, a time compares now.
// InvalidConfig for an `expected` that the operator refuses, NotFound for a name that is not built in.
base::Result<BoundOperator> bindOperator(std::string_view name, std::string_view expected, const ValueSource& source);

// Whether `name` compares now when the paramName is empty, so that it needs no value.
bool comparesNow(std::string_view name, std::string_view paramName);

}  // namespace weir::match
