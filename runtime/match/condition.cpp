#include "match/condition.hpp"

#include <array>
#include <utility>
#include <vector>

#include "base/value.hpp"
#include "match/ant_pattern.hpp"
#include "match/path_pattern.hpp"
#include "match/percent_decode.hpp"

namespace weir::match {
namespace {

constexpr auto npos = std::string_view::npos;

// Java's idea of white space, as far as it is ASCII.
bool isBlank(std::string_view value) {
    return value.find_first_not_of(" \t\n\v\f\r\x1c\x1d\x1e\x1f") == npos;
}

// Java's String.trim(): everything up to the blank goes.
std::string_view trim(std::string_view text) {
    while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
    while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
    return text;
}

// The part of `text` before `separator`, which is removed from `text` together with it.
std::string_view takeUntil(std::string_view& text, char separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
    return part;
}

// The first value of the query parameter `name`, decoded; "" when it is absent.
std::string_view queryValue(std::string_view query, std::string_view name, DecodeBuffer& buffer) {
    while (!query.empty()) {
        std::string_view value = takeUntil(query, '&');
        const std::string_view key = takeUntil(value, '=');
        if (buffer.decode(key, DecodeBuffer::Plus::Space) == name) {
            return buffer.decode(value, DecodeBuffer::Plus::Space);
        }
    }
    return {};
}

// The first cookie called `name` of a Cookie field (RFC 6265, 4.2.1), without quotes around it; "" when it is absent.
std::string_view cookieValue(std::string_view field, std::string_view name) {
    while (!field.empty()) {
        std::string_view value = takeUntil(field, ';');
        if (trim(takeUntil(value, '=')) != name) continue;
        value = trim(value);
        const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
        return quoted ? value.substr(1, value.size() - 2) : value;
    }
    return {};
}

struct TextOperator {
    std::string_view name;
    bool (*passes)(std::string_view value, std::string_view expected);
};

// For a uri, the patterns below come before `match`, `pathPattern` and `exclude` of this table.
constexpr TextOperator kTextOperators[] = {
    {"=", [](std::string_view value, std::string_view expected) { return value == expected; }},
    {"match", [](std::string_view value, std::string_view expected) { return value.find(expected) != npos; }},
    {"pathPattern", [](std::string_view value, std::string_view expected) { return value.find(expected) != npos; }},
    {"contains", [](std::string_view value, std::string_view expected) { return value.find(expected) != npos; }},
    {"exclude", [](std::string_view value, std::string_view expected) { return value.find(expected) == npos; }},
    {"startsWith", [](std::string_view value, std::string_view expected) { return value.starts_with(expected); }},
    {"endsWith", [](std::string_view value, std::string_view expected) { return value.ends_with(expected); }},
};
constexpr std::string_view kIsBlank = "isBlank";

// Names of ShenYu that are not offered yet (post, regex, dates) or have no implementation there either (>, <, path).
constexpr std::array<std::string_view, 3> kLaterParamTypes = {"post", "path", "form-data"};
constexpr std::array<std::string_view, 5> kLaterOperators = {"regex", ">", "<", "TimeBefore", "TimeAfter"};

class TextTest final : public ValueTest {
public:
    TextTest(const TextOperator& op, std::string expected) : operator_(op), expected_(std::move(expected)) {}
    bool passes(std::string_view value) const noexcept override { return operator_.passes(value, expected_); }

private:
    const TextOperator& operator_;
    std::string expected_;
};

class BlankTest final : public ValueTest {
public:
    bool passes(std::string_view value) const noexcept override { return isBlank(value); }
    bool acceptsBlank() const noexcept override { return true; }
};

template <class Pattern>
class PatternTest final : public ValueTest {
public:
    PatternTest(Pattern pattern, bool expected) : pattern_(std::move(pattern)), expected_(expected) {}
    bool passes(std::string_view value) const noexcept override { return pattern_.matches(value) == expected_; }

private:
    Pattern pattern_;
    bool expected_;
};

using Test = std::unique_ptr<const ValueTest>;

template <class Pattern>
base::Result<Test> patternTest(std::string_view operatorName, std::string_view text, bool expected) {
    auto pattern = Pattern::compile(text);
    if (!pattern) {
        auto error = std::move(pattern).error();
        error.message = std::string(operatorName) + " '" + std::string(text) + "': " + error.message;
        return error;
    }
    return Test(std::make_unique<PatternTest<Pattern>>(std::move(pattern).value(), expected));
}

template <class Later>
base::Error unknown(std::string_view what, const std::string& name, const std::vector<std::string_view>& known,
                    const Later& later) {
    std::string message = std::string(what) + " '" + name + "' is ";
    for (const auto& candidate : later) {
        if (candidate == name) return {base::ErrorCode::Unsupported, "", message + "not offered yet"};
    }
    message += "unknown";
    const std::string_view nearest = base::nearest(name, known);
    if (!nearest.empty()) message.append(", did you mean '").append(nearest).append("'?");
    return {base::ErrorCode::Unsupported, "", std::move(message)};
}

base::Result<Test> compileTest(const std::string& operatorName, std::string_view expected, bool uri) {
    if (operatorName == kIsBlank) return Test(std::make_unique<BlankTest>());
    if (uri && operatorName == "match") return patternTest<AntPattern>(operatorName, expected, true);
    if (uri && operatorName == "exclude") return patternTest<AntPattern>(operatorName, expected, false);
    if (uri && operatorName == "pathPattern") return patternTest<PathPattern>(operatorName, expected, true);
    std::vector<std::string_view> known{kIsBlank};
    for (const auto& op : kTextOperators) {
        if (op.name == operatorName) return Test(std::make_unique<TextTest>(op, std::string(expected)));
        known.push_back(op.name);
    }
    return unknown("operator", operatorName, known, kLaterOperators);
}

}  // namespace

const Condition::ParamType Condition::kParamTypes[] = {
    {"uri", Source::Uri, false},          {"header", Source::Header, true},  {"query", Source::Query, true},
    {"cookie", Source::Cookie, true},     {"host", Source::ClientIp, false}, {"ip", Source::ClientIp, false},
    {"req_method", Source::Method, false}, {"domain", Source::Domain, false},
};

const Condition::ParamType* Condition::findParamType(std::string_view name) {
    for (const auto& type : kParamTypes) {
        if (type.name == name) return &type;
    }
    return nullptr;
}

Condition::Condition(Source source, std::string name, std::unique_ptr<const ValueTest> test)
    : source_(source), name_(std::move(name)), test_(std::move(test)) {}

base::Result<Condition> Condition::compile(const ConditionSpec& spec) {
    const ParamType* type = findParamType(spec.paramType);
    if (!type) {
        std::vector<std::string_view> known;
        for (const auto& offered : kParamTypes) known.push_back(offered.name);
        return unknown("paramType", spec.paramType, known, kLaterParamTypes);
    }
    if (type->named && spec.paramName.empty()) {
        return base::Error{base::ErrorCode::InvalidConfig, "",
                           "paramName is empty, expected the name of the " + spec.paramType};
    }
    auto test = compileTest(spec.operatorName, trim(spec.paramValue), type->source == Source::Uri);
    if (!test) return std::move(test).error();
    return Condition(type->source, spec.paramName, std::move(test).value());
}

bool Condition::holds(const Subject& subject) const noexcept {
    DecodeBuffer buffer;
    std::string_view value;
    switch (source_) {
        case Source::Uri: value = subject.uri(); break;
        case Source::Header: value = subject.header(name_); break;
        case Source::Query: value = queryValue(subject.rawQuery(), name_, buffer); break;
        case Source::Cookie: value = cookieValue(subject.header("cookie"), name_); break;
        case Source::Method: value = subject.method(); break;
        case Source::Domain: value = subject.domain(); break;
        case Source::ClientIp: value = subject.clientIp(); break;
    }
    if (isBlank(value) && !test_->acceptsBlank()) return false;
    return test_->passes(value);
}

}  // namespace weir::match
