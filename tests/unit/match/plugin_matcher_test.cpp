#include "match/plugin_matcher.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <tuple>

#include "unit/match/fake_subject.hpp"
#include "support/catch.hpp"

namespace {
thread_local long allocations = 0;

void* counted(std::size_t size) noexcept {
    ++allocations;
    return std::malloc(size);
}
}  // namespace

// Counts what this program allocates; the array forms end here too.
void* operator new(std::size_t size) {
    if (void* block = counted(size)) return block;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace weir::match {
namespace {

enum class Flow { Full = 0, Custom = 1 };
constexpr const char* kAnd = "and";
constexpr const char* kOr = "or";

const ConditionSpec kAny{"uri", "pathPattern", "/", "/**"};
const ConditionSpec kGet{"req_method", "=", "", "GET"};
const ConditionSpec kNever{"uri", "=", "/", "/never"};

RuleSpec rule(std::string id, int sort, std::vector<ConditionSpec> conditions, const char* mode = kAnd) {
    RuleSpec spec;
    spec.name = "rule " + id;
    spec.id = std::move(id);
    spec.sort = sort;
    spec.matchMode = mode;
    spec.conditions = std::move(conditions);
    return spec;
}

// A selector with its rules, as data has them.
struct Written : SelectorSpec {
    std::vector<RuleSpec> rules;
};

Written selector(std::string id, int sort, std::vector<ConditionSpec> conditions, const char* mode = kAnd,
                 Flow flow = Flow::Custom) {
    Written spec;
    spec.name = "selector " + id;
    spec.id = std::move(id);
    spec.sort = sort;
    spec.matchMode = mode;
    spec.type = static_cast<int>(flow);
    spec.conditions = std::move(conditions);
    spec.rules = {rule("r", 1, {kAny})};
    return spec;
}

std::shared_ptr<const PluginMatcher> built(const std::vector<Written>& specs, Order order = Order::Best,
                                           const Providers& providers = {}) {
    std::vector<PluginMatcher::Entry> entries;
    for (const Written& spec : specs) {
        std::vector<std::shared_ptr<const CompiledRule>> rules;
        for (const RuleSpec& one : spec.rules) rules.push_back(compile(one, providers).value());
        entries.push_back({compile(static_cast<const SelectorSpec&>(spec), providers).value(),
                           RuleSet::build(std::move(rules), order)});
    }
    return PluginMatcher::build(std::move(entries), order);
}

// "selector/rule", "selector/-" without a rule, "no rule in selector" or "no selector".
std::string textOf(const Choice& choice) {
    if (choice.outcome == Choice::NoSelector) return "no selector";
    if (choice.outcome == Choice::NoRule) return "no rule in " + choice.selector->id;
    return choice.selector->id + "/" + (choice.rule ? choice.rule->id : "-");
}

std::string chosen(const std::vector<Written>& specs, const Subject& subject = FakeSubject(),
                   Order order = Order::Best) {
    return textOf(built(specs, order)->choose(subject));
}

}  // namespace

TEST_CASE("Among matching selectors the one with most and-conditions wins, then the lowest sort, in any input order") {
    std::vector<Written> specs{
        selector("a", 1, {kAny, kGet}, kOr),
        selector("b", 9, {kAny, kGet}),
        selector("c", 2, {kAny}),
        selector("x", 0, {kAny, kGet, kNever}),
    };
    std::vector<int> order{0, 1, 2, 3};
    do {
        std::vector<Written> shuffled;
        for (int i : order) shuffled.push_back(specs[static_cast<std::size_t>(i)]);
        const auto disable = [&](const char* id) {
            for (auto& spec : shuffled) {
                if (spec.id == id) spec.enabled = false;
            }
        };
        CHECK(chosen(shuffled) == "b/r");
        disable("b");
        CHECK(chosen(shuffled) == "c/r");
        disable("c");
        CHECK(chosen(shuffled) == "a/r");
        disable("a");
        CHECK(chosen(shuffled) == "no selector");
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("Selectors of equal rank and sort are taken by id") {
    CHECK(chosen({selector("b", 1, {kAny}), selector("a", 1, {kAny})}) == "a/r");
}

TEST_CASE("Rules are chosen like selectors, without the disabled ones") {
    auto spec = selector("s", 1, {kAny});
    spec.rules = {rule("or", 1, {kAny, kGet, kGet}, kOr), rule("two", 9, {kAny, kGet}), rule("one", 2, {kAny}),
                  rule("none", 0, {}), rule("never", 0, {kNever, kGet, kAny})};
    CHECK(chosen({spec}) == "s/two");
    spec.rules[1].enabled = false;
    CHECK(chosen({spec}) == "s/one");
    spec.rules[2].enabled = false;
    CHECK(chosen({spec}) == "s/none");  // an empty list holds with `and` ...
    spec.rules[3].matchMode = kOr;
    CHECK(chosen({spec}) == "s/or");    // ... and not with `or`
    spec.rules[0].enabled = false;
    CHECK(chosen({spec}) == "no rule in s");
    spec.rules.clear();
    CHECK(chosen({spec}) == "no rule in s");
}

TEST_CASE("Conditions that an only rule shares with its selector are asked once") {
    const ConditionSpec below{"uri", "pathPattern", "/", "/a/**"};
    auto spec = selector("s", 1, {below, kGet});
    spec.rules = {rule("r", 1, {below})};
    FakeSubject subject;
    subject.path = "/a/1";
    Work work;
    CHECK(textOf(built({spec})->choose(subject, &work)) == "s/r");
    CHECK(work.conditions == 2);
    spec.rules[0].enabled = false;
    CHECK(chosen({spec}, subject) == "no rule in s");
    spec.rules = {rule("r", 2, {below, kNever})};
    CHECK(chosen({spec}, subject) == "no rule in s");
    spec.rules = {rule("r", 2, {kNever}), rule("q", 1, {below})};
    CHECK(chosen({spec}, subject) == "s/q");
}

TEST_CASE("Conditions of a rule that are only like those of its selector are asked") {
    struct Row {
        ConditionSpec selector;
        ConditionSpec rule;
        const char* path;  // only the selector takes it
    };
    const Row rows[] = {
        {{"uri", "match", "/", "/a/**"}, {"uri", "pathPattern", "/", "/a/**"}, "//a/1"},
        {{"uri", "pathPattern", "/", "/a/**"}, {"uri", "pathPattern", "/", "/a/b/**"}, "/a/c"},
        {{"uri", "pathPattern", "/", "/a/**"}, {"uri", "=", "/", "/a"}, "/a/"},
        {{"uri", "=", "/", "/a"}, {"header", "=", "x", "/a"}, "/a"},
        {{"uri", "startsWith", "/", "/a"}, {"uri", "endsWith", "/", "/a"}, "/ab"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.rule.operatorName, row.path);
        FakeSubject subject;
        subject.path = row.path;
        auto spec = selector("s", 1, {row.selector});
        spec.rules = {rule("r", 1, {row.rule})};
        CHECK(chosen({spec}, subject) == "no rule in s");
    }
    auto any = selector("s", 1, {kNever, kAny}, kOr);
    any.rules = {rule("r", 1, {kNever})};
    CHECK(chosen({any}) == "no rule in s");
}

TEST_CASE("A full flow selector ignores conditions and uses the last rule untested") {
    auto spec = selector("s", 1, {kNever}, kAnd, Flow::Full);
    auto last = rule("last", 2, {kNever});
    last.enabled = false;
    spec.rules = {last, rule("first", 1, {kAny})};
    CHECK(chosen({spec}) == "s/last");
    spec.rules[1].sort = 2;  // equal sort: by id
    CHECK(chosen({spec}) == "s/last");
    spec.rules.clear();
    CHECK(chosen({spec}) == "no rule in s");
    // Its conditions still count against other selectors.
    auto other = selector("t", 0, {kAny});
    CHECK(chosen({spec, other}) == "t/r");
    spec.conditions.push_back(kNever);
    CHECK(chosen({spec, other}) == "no rule in s");
}

TEST_CASE("A selector that is not continued is chosen without looking at rules") {
    auto spec = selector("s", 1, {kAny});
    spec.continued = false;
    spec.defaultRule = std::make_shared<int>();
    spec.rules.clear();
    CHECK(chosen({spec}) == "s/-");
    CHECK(built({spec})->choose(FakeSubject()).selector->defaultRule == spec.defaultRule.get());
}

TEST_CASE("A custom flow selector without conditions never matches") {
    CHECK(chosen({selector("s", 1, {})}) == "no selector");
    CHECK(chosen({selector("s", 1, {}, kOr)}) == "no selector");
    CHECK(chosen({}) == "no selector");
    CHECK(chosen({selector("s", 1, {}, kAnd, Flow::Full)}) == "s/r");
}

TEST_CASE("Handles come back as they were given and live as long as the matcher") {
    auto spec = selector("s", 1, {kAny});
    auto handle = std::make_shared<int>();
    spec.handle = handle;
    spec.logged = true;
    spec.rules[0].handle = std::make_shared<int>();
    auto matcher = built({spec});
    const Choice choice = matcher->choose(FakeSubject());
    CHECK(choice.selector->handle == handle.get());
    CHECK(choice.rule->handle == spec.rules[0].handle.get());
    CHECK(choice.selector->logged);
    CHECK_FALSE(choice.rule->logged);
    const std::weak_ptr<int> seen = handle;
    handle.reset();
    spec.handle.reset();
    CHECK_FALSE(seen.expired());
    matcher.reset();
    CHECK(seen.expired());
}

TEST_CASE("The first by sort wins when the order says so") {
    const std::vector<Written> specs{selector("b", 2, {kAny, kGet}), selector("c", 1, {kAny}),
                                     selector("a", 1, {kAny, kNever})};
    CHECK(chosen(specs) == "b/r");
    CHECK(chosen(specs, FakeSubject(), Order::First) == "c/r");
    auto spec = selector("s", 1, {kAny});
    spec.rules = {rule("two", 2, {kAny, kGet}), rule("one", 1, {kAny})};
    CHECK(chosen({spec}, FakeSubject(), Order::First) == "s/one");
}

TEST_CASE("An error has the index of the condition, and says its number") {
    auto bad = compile(rule("8", 1, {kAny, {"uri", "pathPattern", "/", "/api/**/x"}}), {});
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().condition == 1);
    CHECK(bad.error().message == "condition 2: pathPattern '/api/**/x': position 6: '**' is only allowed as the last "
                                 "segment of a pathPattern");
    SelectorSpec spec;
    spec.type = 3;
    auto selector = compile(spec, {});
    REQUIRE_FALSE(selector.ok());
    CHECK(selector.error().condition == CompileError::kNoCondition);
    CHECK(selector.error().message == "type is 3, expected 0 (full flow) or 1 (custom flow)");
}

TEST_CASE("What waits never matches, and the entries beside it do") {
    auto spec = selector("s", 1, {kAny, kGet, {"moon", "=", "", "x"}});
    spec.rules = {rule("odd", 0, {kAny, kGet}, "majorty"), rule("fine", 1, {kAny})};
    CHECK(chosen({spec, selector("t", 2, {kAny})}) == "t/r");
    CHECK(compile(static_cast<const SelectorSpec&>(spec), {}).value()->waiting ==
          "condition 3: paramType 'moon' is unknown");
    spec.conditions.pop_back();
    CHECK(chosen({spec}) == "s/fine");
    Providers providers;
    providers.strategies["majority"] = nullptr;
    CHECK(compile(spec.rules[0], providers).value()->waiting ==
          "matchMode 'majorty' is unknown, did you mean 'majority'?");
    // Nobody evaluates the conditions of a full flow.
    spec.type = 0;
    spec.conditions = {{"moon", "=", "", "x"}};
    CHECK(chosen({spec}) == "s/fine");
    const auto full = compile(static_cast<const SelectorSpec&>(spec), {}).value();
    CHECK(full->waiting == "");
    CHECK(full->remarks == std::vector<std::string>{"condition 1: paramType 'moon' is unknown"});
}

namespace {

struct Majority final : Strategy {
    bool holds(std::uint32_t count, const ConditionResults& conditions) const noexcept override {
        std::uint32_t holding = 0;
        for (std::uint32_t i = 0; i < count; ++i) holding += conditions.holds(i);
        return holding * 2 > count;
    }
};

struct Longer final : Operator {
    struct Test final : ValueTest {
        std::size_t limit;
        bool passes(std::string_view value) const noexcept override { return value.size() > limit; }
    };
    base::Result<std::unique_ptr<const ValueTest>> bind(const ConditionSpec& spec) const override {
        if (spec.paramValue.empty()) return base::Error{base::ErrorCode::InvalidConfig, "", "longer needs a number"};
        auto test = std::make_unique<Test>();
        test->limit = std::stoul(spec.paramValue);
        return std::unique_ptr<const ValueTest>(std::move(test));
    }
};

struct Verb final : ParameterType {
    struct Reader final : ValueReader {
        std::string_view read(const Subject& subject) const noexcept override { return subject.method(); }
    };
    base::Result<std::unique_ptr<const ValueReader>> bind(const std::string&) const override {
        return std::unique_ptr<const ValueReader>(std::make_unique<Reader>());
    }
};

}  // namespace

TEST_CASE("Operators, parameter types and strategies of modules are used, their refusals handed on") {
    Providers providers;
    providers.strategies["majority"] = std::make_shared<Majority>();
    providers.operators["longer"] = std::make_shared<Longer>();
    providers.parameterTypes["verb"] = std::make_shared<Verb>();
    const ConditionSpec longer{"uri", "longer", "", " 3 "};
    const ConditionSpec verb{"verb", "=", "", "GET"};
    const auto matcher = built({selector("s", 1, {longer, verb, kNever}, "majority")}, Order::Best, providers);
    FakeSubject subject;
    subject.path = "/long";
    CHECK(textOf(matcher->choose(subject)) == "s/r");
    subject.path = "/s";
    CHECK(textOf(matcher->choose(subject)) == "no selector");
    auto refused = compile(rule("r", 1, {{"uri", "longer", "", " "}}), providers);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message == "condition 1: longer needs a number");
}

TEST_CASE("Many rules of mixed ranks are in order however they come") {
    std::vector<std::shared_ptr<const CompiledRule>> rules;
    for (int i = 0; i < 300; ++i) {
        std::vector<ConditionSpec> conditions(static_cast<std::size_t>(1 + i % 3), kAny);
        rules.push_back(compile(rule(std::to_string(i), i % 20, conditions, i % 7 ? kAnd : kOr), {}).value());
    }
    std::vector<std::shared_ptr<const CompiledRule>> expected = rules;
    std::sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
        return std::tuple(b->rank, a->sort, a->rule.id) < std::tuple(a->rank, b->sort, b->rule.id);
    });
    CHECK(RuleSet::build(rules, Order::Best)->rules() == expected);
    const auto bySort = [](const auto& a, const auto& b) {
        return std::tuple(a->sort, a->rule.id) < std::tuple(b->sort, b->rule.id);
    };
    std::sort(rules.begin(), rules.end(), bySort);
    CHECK(RuleSet::build(rules, Order::Best)->rules() == expected);
    CHECK(RuleSet::build(expected, Order::First)->rules() == rules);
    CHECK(RuleSet::build(expected, Order::Best)->last() == rules.back().get());
}

TEST_CASE("One changed entry among many changes just what it says") {
    std::vector<std::shared_ptr<const CompiledRule>> rules;
    for (int i = 0; i < 1000; ++i) {
        rules.push_back(compile(rule(std::to_string(i), i, {{"uri", "=", "/", "/" + std::to_string(i)}}), {}).value());
    }
    const auto before = RuleSet::build(rules, Order::Best);
    rules[500] = compile(rule("500", 500, {{"uri", "=", "/", "/changed"}}), {}).value();
    const auto after = RuleSet::build(rules, Order::Best);
    FakeSubject subject;
    subject.path = "/500";
    CHECK(before->choose(subject)->rule.id == "500");
    CHECK(after->choose(subject) == nullptr);
    subject.path = "/changed";
    CHECK(after->choose(subject)->rule.id == "500");
    subject.path = "/501";
    CHECK(after->choose(subject) == before->choose(subject));
}

TEST_CASE("An explanation says of each selector and rule why it is used or not") {
    auto full = selector("full", 9, {}, kAnd, Flow::Full);
    auto off = selector("off", 8, {kAny});
    off.enabled = false;
    auto winner = selector("winner", 7, {kAny, kGet});
    winner.rules = {rule("no", 1, {kAny, {"header", "=", "x-id", "7"}}), rule("yes", 2, {kAny}),
                    rule("late", 3, {kAny})};
    FakeSubject subject;
    subject.headers = {{"x-id", std::string(300, 'v')}};
    const auto matcher = built({full, off, winner, selector("waits", 1, {kAny, {"moon", "=", "", ""}}),
                                selector("empty", 1, {}), selector("fails", 0, {kAny, kGet, kNever, kNever})});
    const Explanation all = matcher->explain(subject, 100);
    const auto states = [](const std::vector<Verdict>& verdicts) {
        std::vector<std::pair<std::string, Verdict::State>> result;
        for (const Verdict& verdict : verdicts) result.emplace_back(verdict.id, verdict.state);
        return result;
    };
    using State = Verdict::State;
    using Pairs = std::vector<std::pair<std::string, Verdict::State>>;
    CHECK(textOf(all.choice) == "winner/yes");
    CHECK(states(all.selectors) == Pairs{{"fails", State::Failed},    {"waits", State::Waiting},
                                         {"winner", State::Matched},  {"off", State::Disabled},
                                         {"empty", State::NoConditions}, {"full", State::Outranked}});
    CHECK(states(all.rules) == Pairs{{"no", State::Failed}, {"yes", State::Matched}, {"late", State::Outranked}});
    CHECK(all.selectors[0].failed->condition == 2);
    CHECK(all.selectors[0].failed->spec.paramValue == "/never");
    CHECK(all.selectors[0].failed->value == "/");
    CHECK(all.selectors[1].reason == "condition 2: paramType 'moon' is unknown");
    CHECK(all.rules[0].failed->value == std::string(256, 'v'));
    CHECK(all.rules[0].failed->clipped);

    const Explanation some = matcher->explain(subject, 1);
    CHECK(states(some.selectors) == Pairs{{"fails", State::Failed}, {"winner", State::Matched}});
    CHECK(some.selectorsTotal == 6);
    CHECK(states(some.rules) == Pairs{{"no", State::Failed}, {"yes", State::Matched}});
    CHECK(some.rulesTotal == 3);
}

TEST_CASE("Choosing allocates nothing") {
    const bool indexed = GENERATE(false, true);
    FakeSubject subject;
    subject.path = "/order/a%20b/c";
    subject.query = "x=1&name=a%20b";
    subject.headers = {{"Cookie", "a=1; b=2"}};
    auto spec = selector("s", 1, {{"uri", "match", "/", "/**/c"}, {"uri", "pathPattern", "/", "/order/{id}/c"},
                                  {"query", "=", "name", "a b"}, {"cookie", "=", "b", "2"},
                                  {"uri", "contains", "/", "%"}});
    std::vector<Written> specs{spec};
    if (indexed) {
        for (int i = 0; i < 100; ++i) {
            specs.push_back(selector(std::to_string(i), 0, {kNever, {"query", "=", "x", "2"}}));
        }
        specs.push_back(selector("prefix", 0, {{"cookie", "startsWith", "a", "2"}}));
    }
    const auto matcher = built(specs);
    const long before = allocations;
    const Choice choice = matcher->choose(subject);
    const long after = allocations;
    CHECK(choice.outcome == Choice::Matched);
    CHECK(after == before);
    CHECK(before > 0);  // the counter works
}

}  // namespace weir::match
