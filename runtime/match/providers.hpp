#pragma once

#include <cstdint>
#include <map>
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

// A parameter type bound to one paramName. read() is called by any loop, also at the same time; the value lives as
// long as the request, a missing one is empty.
class ValueReader {
public:
    virtual ~ValueReader() = default;
    virtual std::string_view read(const Subject& subject) const noexcept = 0;
};

class ParameterType {
public:
    virtual ~ParameterType() = default;
    // Control thread; an error refuses the condition.
    virtual base::Result<std::unique_ptr<const ValueReader>> bind(const std::string& paramName) const = 0;
};

// An operator bound to its paramValue: what one condition asks of one value.
class ValueTest {
public:
    virtual ~ValueTest() = default;
    // Called by any loop, also at the same time; `value` is blank only when acceptsBlank().
    virtual bool passes(std::string_view value) const noexcept = 0;
    virtual bool acceptsBlank() const noexcept { return false; }
};

class Operator {
public:
    virtual ~Operator() = default;
    // Control thread; the paramValue is trimmed; an error refuses the condition.
    virtual base::Result<std::unique_ptr<const ValueTest>> bind(const ConditionSpec& spec) const = 0;
};

// The conditions of one entry, to be evaluated as a strategy needs them.
class ConditionResults {
public:
    // `index`: below the count that Strategy::holds was given.
    virtual bool holds(std::uint32_t index) const noexcept = 0;

protected:
    ~ConditionResults() = default;
};

class Strategy {
public:
    virtual ~Strategy() = default;
    // Called by any loop, also at the same time.
    virtual bool holds(std::uint32_t count, const ConditionResults& conditions) const noexcept = 0;
};

// What modules offer beside what is built in, by paramType, operator and matchMode. A built-in name wins.
struct Providers {
    std::map<std::string, std::shared_ptr<const ParameterType>, std::less<>> parameterTypes;
    std::map<std::string, std::shared_ptr<const Operator>, std::less<>> operators;
    std::map<std::string, std::shared_ptr<const Strategy>, std::less<>> strategies;
};

}  // namespace weir::match
