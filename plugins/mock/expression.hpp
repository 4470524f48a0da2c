#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "request_read.hpp"

namespace weir::mock {

// No answer and no part of one is larger.
constexpr std::size_t kLargestAnswer = 1024 * 1024;
// Items of an array, characters of a text.
constexpr std::int64_t kMostItems = 10'000;

// What was read from the request, by the read's index; nothing where it could not be.
using ReadValues = std::span<const std::optional<Value>>;

// The part of Spring's expression language that mocks need: texts, numbers, true, false, null, sums, #req and the
// functions of ShenYu's mock. Nothing is called that is not one of these.
class Expression {
public:
    // What the expression reads from the request is appended to `reads`. Null: it is not one, and `fault` says why.
    static std::unique_ptr<const Expression> parse(std::string_view text, std::vector<RequestRead>& reads,
                                                   std::string& fault);

    virtual ~Expression() = default;
    // A value that is there already, or `made`, filled in. Null when it fails: on a value that is no number, or that
    // makes too large a text.
    virtual const Value* evaluate(ReadValues reads, Value& made) const = 0;
};

}  // namespace weir::mock
