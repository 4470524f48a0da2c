#include "match/operators.hpp"

#include <utility>

#include "base/ascii.hpp"
#include "match/ant_pattern.hpp"
#include "match/decimal.hpp"
#include "match/local_time.hpp"
#include "match/path_pattern.hpp"
#include "match/text_search.hpp"

namespace weir::match {
namespace {

constexpr auto npos = std::string_view::npos;
using Bound = base::Result<BoundOperator>;

// What an operator is bound to.
struct Binding {
    std::string_view name;
    std::string expected;
    const ValueSource& source;
};

base::Error refused(const Binding& binding, const std::string& why) {
    return {base::ErrorCode::InvalidConfig, "", std::string(binding.name) + " '" + binding.expected + "': " + why};
}

using Compare = bool (*)(std::string_view value, std::string_view expected);

template <Compare compare>
class TextTest final : public ValueTest {
public:
    explicit TextTest(std::string expected) : expected_(std::move(expected)) {}
    bool passes(std::string_view value) const noexcept override { return compare(value, expected_); }

private:
    std::string expected_;
};

bool contains(std::string_view value, std::string_view expected) { return find(value, expected) != npos; }
bool startsWith(std::string_view value, std::string_view expected) {
    countSteps(expected.size());
    return value.starts_with(expected);
}
bool endsWith(std::string_view value, std::string_view expected) {
    countSteps(expected.size());
    return value.ends_with(expected);
}
bool never(std::string_view, std::string_view) { return false; }

template <Compare compare>
Bound text(Binding& binding) {
    return BoundOperator{std::make_unique<TextTest<compare>>(std::move(binding.expected)), {}, {}, {}, {}};
}

Bound equal(Binding& binding) {
    Anchor anchor;
    anchor.kind = Anchor::Kind::Equal;
    anchor.slot = binding.source.slot();
    anchor.key = equalKey(anchor.slot, Hash::of(binding.expected));
    return BoundOperator{nullptr, anchor, {}, Shortcut::Equal, std::move(binding.expected)};
}

Bound prefix(Binding& binding) {
    Anchor anchor;
    if (!binding.expected.empty()) {
        anchor.kind = Anchor::Kind::Prefix;
        anchor.length = static_cast<std::uint32_t>(binding.expected.size());
        anchor.slot = binding.source.slot();
        anchor.key = prefixKey(anchor.slot, Hash::of(binding.expected));
    }
    auto bound = text<startsWith>(binding);
    bound->anchor = anchor;
    return bound;
}

class BlankTest final : public ValueTest {
public:
    bool passes(std::string_view value) const noexcept override { return isBlank(value); }
    bool acceptsBlank() const noexcept override { return true; }
};

Bound blank(Binding&) { return BoundOperator{std::make_unique<BlankTest>(), {}, {}, {}, {}}; }

template <class Pattern>
class PatternTest final : public ValueTest {
public:
    explicit PatternTest(Pattern pattern) : pattern_(std::move(pattern)) {}
    bool passes(std::string_view value) const noexcept override { return pattern_.matches(value); }

private:
    Pattern pattern_;
};

// Of the pattern "<literal>/**" the literal, which says it all for a path that has it letter by letter; else "".
std::string_view literalTop(std::string_view pattern) {
    if (!pattern.ends_with("/**")) return {};
    pattern.remove_suffix(3);
    return pattern.find_first_of("*?{}%;") == npos ? pattern : std::string_view();
}

template <class Pattern>
Bound pattern(Binding& binding) {
    if (binding.source.kind() != ValueSource::Kind::Uri) return text<contains>(binding);
    auto compiled = Pattern::compile(binding.expected);
    if (!compiled) return refused(binding, compiled.error().message);
    BoundOperator bound;
    bound.anchor = compiled->anchor();
    bound.test = std::make_unique<PatternTest<Pattern>>(std::move(compiled).value());
    if (const std::string_view top = literalTop(binding.expected); !top.empty()) {
        bound.shortcut = Shortcut::Below;
        bound.expected = top;
    }
    return bound;
}

// What is not there does not contain anything (case B18).
class ExcludeTest final : public ValueTest {
public:
    explicit ExcludeTest(std::unique_ptr<const ValueTest> excluded) : excluded_(std::move(excluded)) {}
    bool passes(std::string_view value) const noexcept override { return isBlank(value) || !excluded_->passes(value); }
    bool acceptsBlank() const noexcept override { return true; }

private:
    std::unique_ptr<const ValueTest> excluded_;
};

Bound exclude(Binding& binding) {
    auto excluded = pattern<AntPattern>(binding);
    if (!excluded) return excluded;
    return BoundOperator{std::make_unique<ExcludeTest>(std::move(excluded->test)), {}, {}, {}, {}};
}

class RegexTest final : public ValueTest {
public:
    explicit RegexTest(Regex regex) : regex_(std::move(regex)) {}
    bool passes(std::string_view value) const noexcept override { return regex_.matches(value); }

private:
    Regex regex_;
};

Bound regex(Binding& binding) {
    const bool ignoreCase = binding.source.kind() == ValueSource::Kind::Domain;
    auto compiled = Regex::compile(binding.expected, 1, ignoreCase);
    if (!compiled) return refused(binding, compiled.error().message);
    return BoundOperator{std::make_unique<RegexTest>(std::move(compiled).value()), {}, {}, {}, {}};
}

template <bool greater>
class NumberTest final : public ValueTest {
public:
    explicit NumberTest(std::string text) : text_(std::move(text)), expected_(*Decimal::parse(text_)) {}
    bool passes(std::string_view value) const noexcept override {
        const auto number = Decimal::parse(value);
        return number && (greater ? *number > expected_ : *number < expected_);
    }

private:
    std::string text_;
    Decimal expected_;  // views text_
};

template <bool greater>
Bound number(Binding& binding) {
    if (Decimal::parse(binding.expected)) {
        return BoundOperator{std::make_unique<NumberTest<greater>>(std::move(binding.expected)), {}, {}, {}, {}};
    }
    std::string remark = std::string(binding.name) + " '" + binding.expected + "' never holds: that is no number";
    auto bound = text<never>(binding);
    bound->remark = std::move(remark);
    return bound;
}

template <bool before>
class TimeTest final : public ValueTest {
public:
    explicit TimeTest(LocalTime expected) : expected_(expected) {}
    bool passes(std::string_view value) const noexcept override {
        const auto time = LocalTime::parse(value);
        return time && (before ? *time < expected_ : *time > expected_);
    }

private:
    LocalTime expected_;
};

template <bool before>
class NowTest final : public ValueTest {
public:
    explicit NowTest(std::time_t expected) : expected_(expected) {}
    bool passes(std::string_view) const noexcept override {
        const std::time_t now = std::time(nullptr);
        return before ? now < expected_ : now > expected_;
    }
    bool acceptsBlank() const noexcept override { return true; }

private:
    std::time_t expected_;
};

template <bool before>
Bound time(Binding& binding) {
    const auto expected = LocalTime::parse(binding.expected);
    if (!expected) return refused(binding, "expected a time as 'yyyy-MM-dd HH:mm:ss'");
    if (binding.source.kind() == ValueSource::Kind::None) {
        return BoundOperator{std::make_unique<NowTest<before>>(expected->moment()), {}, {}, {}, {}};
    }
    return BoundOperator{std::make_unique<TimeTest<before>>(*expected), {}, {}, {}, {}};
}

struct BuiltIn {
    std::string_view name;
    Bound (*bind)(Binding& binding);
};
constexpr std::string_view kTimeBefore = "TimeBefore";
constexpr std::string_view kTimeAfter = "TimeAfter";
constexpr BuiltIn kBuiltIn[] = {
    {"match", pattern<AntPattern>},
    {"=", equal},
    {"regex", regex},
    {">", number<true>},
    {"<", number<false>},
    {"contains", text<contains>},
    {"startsWith", prefix},
    {"endsWith", text<endsWith>},
    {"exclude", exclude},
    {"pathPattern", pattern<PathPattern>},
    {"isBlank", blank},
    {kTimeBefore, time<true>},
    {kTimeAfter, time<false>},
};

}  // namespace

std::vector<std::string_view> operatorNames() {
    std::vector<std::string_view> names;
    for (const auto& op : kBuiltIn) names.push_back(op.name);
    return names;
}

Bound bindOperator(std::string_view name, std::string_view expected, const ValueSource& source) {
    for (const auto& op : kBuiltIn) {
        if (op.name != name) continue;
        // Host names come in lower case; an expression is told to ignore case, as it has escapes like \D.
        const bool lower = source.kind() == ValueSource::Kind::Domain && name != "regex";
        Binding binding{name, lower ? base::toLower(expected) : std::string(expected), source};
        return op.bind(binding);
    }
    return base::Error{base::ErrorCode::NotFound, "", ""};
}

bool comparesNow(std::string_view name, std::string_view paramName) {
    return paramName.empty() && (name == kTimeBefore || name == kTimeAfter);
}

}  // namespace weir::match
