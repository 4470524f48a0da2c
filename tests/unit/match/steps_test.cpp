#include "match/steps.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "match/plugin_matcher.hpp"
#include "support/catch.hpp"
#include "unit/match/fake_subject.hpp"

namespace weir::match {
namespace {

std::string repeat(std::string_view text, std::size_t times) {
    std::string result;
    for (; times > 0; --times) result += text;
    return result;
}

template <class Work>
std::uint64_t stepsOf(Work work) {
    stepsCounted = 0;
    work();
    return stepsCounted;
}

ConditionSpec uri(const char* op, std::string value) { return {"uri", op, "/", std::move(value)}; }

FakeSubject requestOf(std::string path) {
    FakeSubject subject;
    subject.path = std::move(path);
    return subject;
}

}  // namespace

TEST_CASE("A condition takes steps linear in the request and in the condition, whatever the two are") {
    constexpr std::size_t kMany = 4000;
    constexpr std::uint64_t kLooks = 4;  // at each byte; as the fuzzer
    const auto path = [](const char* op, std::string value, std::string request) {
        return std::pair{uri(op, std::move(value)), requestOf(std::move(request))};
    };
    const auto query = [](std::string name, std::string request) {
        FakeSubject subject;
        subject.query = std::move(request);
        return std::pair{ConditionSpec{"query", "=", std::move(name), "x"}, std::move(subject)};
    };
    const auto cookie = [](std::string request) {
        FakeSubject subject;
        subject.headers = {{"Cookie", std::move(request)}};
        return std::pair{ConditionSpec{"cookie", "contains", "name", "x"}, std::move(subject)};
    };
    struct Row {
        const char* what;
        std::pair<ConditionSpec, FakeSubject> of;
        std::uint64_t between = 0;  // segments between two `**`: each segment of the path may be asked that much more
    };
    const Row rows[] = {
        {"one `**` after the other", path("match", repeat("/**/a", kMany) + "/c", repeat("/a", kMany) + "/b"), 1},
        {"a `**` for every two segments", path("match", repeat("/**/a/b", kMany / 2), repeat("/a", kMany)), 2},
        {"most between two `**`", path("match", "/**" + repeat("/a", 15) + "/b/**", repeat("/a", kMany)), 16},
        {"most patterns between two `**`", path("match", "/**" + repeat("/*a*", 15) + "/b/**", repeat("/aa", kMany)),
         16},
        {"nothing but slashes", path("match", repeat("/**/a", kMany), repeat("/", kMany)), 1},
        {"slashes between segments", path("match", "/**" + repeat("/a", 15) + "/b/**", repeat("/a////////", kMany)),
         16},
        {"exclude as match", path("exclude", repeat("/**/a", kMany) + "/c", repeat("/a", kMany) + "/b"), 1},
        {"many `*` in a segment", path("match", "/" + repeat("*a", kMany) + "*b", "/" + repeat("a", kMany))},
        {"long text between two `*`", path("match", "/*" + repeat("a", kMany / 2) + "b*", "/" + repeat("a", kMany))},
        {"long text after a `*`", path("match", "/*b" + repeat("a", kMany / 2), "/" + repeat("a", kMany))},
        {"long text with `?` after a `*`", path("match", "/*b" + repeat("?a", kMany / 4), "/" + repeat("a", kMany))},
        {"`?` between two `*`", path("match", "/*" + repeat("a?", 100) + "b*", "/" + repeat("a", kMany))},
        {"nothing but `*`", path("match", "/" + repeat("*", kMany) + "b", "/" + repeat("a", kMany))},
        {"half a character again and again", path("match", "/*b" + repeat("?", 50), "/" + repeat("\x80", kMany))},
        {"pathPattern: many segments", path("pathPattern", repeat("/*a*", kMany) + "/c", repeat("/aa", kMany))},
        {"pathPattern: long text between two `*`",
         path("pathPattern", "/*" + repeat("a", kMany / 2) + "b*", "/" + repeat("%61", kMany))},
        {"pathPattern: broken escapes", path("pathPattern", "/*b", "/" + repeat("%", kMany))},
        {"pathPattern: parameters", path("pathPattern", repeat("/{*r}", 1), repeat("/;x;", kMany))},
        {"encoded slashes that are none", path("match", "/{x}b", "/" + repeat("%2", kMany))},
        {"contains", path("contains", repeat("a", kMany / 2) + "b", repeat("a", kMany))},
        {"contains, short", path("contains", "aab", "/" + repeat("aa", kMany))},
        {"endsWith", path("endsWith", "b" + repeat("a", kMany), repeat("a", 2 * kMany))},
        {"startsWith", path("startsWith", repeat("a", kMany) + "b", repeat("a", 2 * kMany))},
        {"a number", path(">", repeat("0", kMany) + "1", repeat("0", kMany) + "2")},
        {"blanks", path("isBlank", "", repeat(" ", kMany) + "x")},
        {"many parameters", query("name", repeat("nam=%6e&", kMany))},
        {"a long parameter", query(repeat("n", kMany), repeat("n", 2 * kMany) + "=1&" + repeat("+", kMany))},
        {"many cookies", cookie(repeat("nam=1;", kMany))},
        {"blanks in a cookie", cookie("name=" + repeat(" ", kMany) + "y" + repeat(" ", kMany))},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const auto& [spec, subject] = row.of;
        auto compiled = Condition::compile(spec, {});
        REQUIRE(compiled.ok());
        const std::size_t request = subject.path.size() + subject.query.size() + subject.header("cookie").size() + 1;
        const std::size_t condition = spec.paramName.size() + spec.paramValue.size() + 1;
        const std::uint64_t steps = stepsOf([&] { compiled->condition.holds(subject); });
        CHECK(steps > 0);
        CHECK(steps <= kLooks * (condition + (1 + row.between) * request));
    }
}

TEST_CASE("A choice asks each condition of an `or` once, whatever a request is found by") {
    struct Row {
        const char* what;
        std::string (*pattern)(std::size_t number);
        std::string path;
    };
    const Row rows[] = {
        {"below the same segment", [](std::size_t n) { return "/a/?" + std::to_string(n); }, "/a/b"},
        {"below the same segments in other shapes",
         [](std::size_t n) {
             std::string pattern;
             for (int bit = 0; bit < 8; ++bit) pattern += n >> bit & 1 ? "/*" : "/a";
             return pattern + "/a/?b" + std::to_string(n);
         },
         repeat("/a", 10)},
    };
    constexpr std::size_t kConditions = 200;
    constexpr std::size_t kRules = 12;  // so that there is an index
    for (const Row& row : rows) {
        CAPTURE(row.what);
        RuleSpec spec;
        spec.matchMode = "or";
        for (std::size_t i = 0; i < kConditions; ++i) spec.conditions.push_back(uri("match", row.pattern(i)));
        std::vector<std::shared_ptr<const CompiledRule>> rules;
        for (std::size_t i = 0; i < kRules; ++i) rules.push_back(compile(spec, {}).value());
        const auto set = RuleSet::build(std::move(rules), Order::Best);
        Work work;
        CHECK(set->choose(requestOf(row.path), &work) == nullptr);
        CHECK(work.conditions == kConditions * kRules);
    }
}

TEST_CASE("Looking a request up takes steps linear in its bytes plus one for each way to look it up") {
    constexpr std::size_t kMany = 4000;
    constexpr std::size_t kRules = 2000;
    std::vector<std::shared_ptr<const CompiledRule>> rules;
    for (std::size_t i = 0; i < kRules; ++i) {
        RuleSpec spec;
        const std::string number = std::to_string(i);
        std::string pattern;
        for (int bit = 0; bit < 7; ++bit) pattern += i >> bit & 1 ? "/*" : "/a";
        if (i % 4 == 0) spec.conditions = {uri("startsWith", "/" + repeat("a", i) + "b")};  // as many lengths
        else if (i % 4 == 1) spec.conditions = {uri("match", pattern + "/" + number + "/**")};
        else if (i % 4 == 2) spec.conditions = {uri("pathPattern", pattern + "/" + number + "/**")};
        else spec.conditions = {uri("=", "/" + number)};
        rules.push_back(compile(std::move(spec), {}).value());
    }
    const auto set = RuleSet::build(std::move(rules), Order::Best);
    const std::string paths[] = {repeat("/a", kMany),  repeat("/", kMany), "/" + repeat("a", kMany),
                                 repeat("%", kMany),   repeat("/%61", kMany), repeat("/a;b", kMany),
                                 repeat(" ", kMany)};
    for (const std::string& path : paths) {
        CAPTURE(path.substr(0, 8));
        Work work;
        const FakeSubject subject = requestOf(path);
        const std::uint64_t steps = stepsOf([&] { CHECK(set->choose(subject, &work) == nullptr); });
        CHECK(work.conditions == 0);
        CHECK(work.probes <= kRules);
        CHECK(steps <= 4 * path.size() + 4 * kRules);
    }
}

}  // namespace weir::match
