#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "match/subject.hpp"

namespace weir::match {

// A condition as written (fact sheet 1.5).
struct ConditionSpec {
    std::string paramType;
    std::string operatorName;
    std::string paramName;
    std::string paramValue;
};

// An operator bound to its paramValue: what one condition asks of one value. The hole that operators of other modules
// will fill.
class ValueTest {
public:
    virtual ~ValueTest() = default;
    // Called by any loop, also at the same time; `value` is blank only when acceptsBlank().
    virtual bool passes(std::string_view value) const noexcept = 0;
    virtual bool acceptsBlank() const noexcept { return false; }
};

// A compiled condition. Immutable, any thread. Allocates nothing per request unless a percent-encoded value is longer
// than DecodeBuffer::kInline or the operator is a regular expression.
class Condition {
public:
    // Unsupported: a parameter type or operator that nobody offers, with the nearest name. InvalidConfig: a paramName
    // that is missing or a paramValue the operator refuses.
    static base::Result<Condition> compile(const ConditionSpec& spec);

    // False for a missing or blank value, whatever the operator, except isBlank (fact sheet 3.4).
    bool holds(const Subject& subject) const noexcept;

private:
    enum class Source { Uri, Header, Query, Cookie, Method, Domain, ClientIp };

    struct ParamType {
        std::string_view name;
        Source source;
        bool named;  // needs a paramName
    };
    static const ParamType kParamTypes[];
    static const ParamType* findParamType(std::string_view name);

    Condition(Source source, std::string name, std::unique_ptr<const ValueTest> test);

    Source source_;
    std::string name_;
    std::unique_ptr<const ValueTest> test_;
};

}  // namespace weir::match
