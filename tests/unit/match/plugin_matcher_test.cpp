#include "match/plugin_matcher.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

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
constexpr int kAnd = 0;
constexpr int kOr = 1;

const ConditionSpec kAny{"uri", "pathPattern", "/", "/**"};
const ConditionSpec kGet{"req_method", "=", "", "GET"};
const ConditionSpec kNever{"uri", "=", "/", "/never"};

RuleSpec rule(std::string id, int sort, std::vector<ConditionSpec> conditions, int mode = kAnd) {
    RuleSpec spec;
    spec.name = "rule " + id;
    spec.id = std::move(id);
    spec.sort = sort;
    spec.matchMode = mode;
    spec.conditions = std::move(conditions);
    return spec;
}

SelectorSpec selector(std::string id, int sort, std::vector<ConditionSpec> conditions, int mode = kAnd,
                      Flow flow = Flow::Custom) {
    SelectorSpec spec;
    spec.name = "selector " + id;
    spec.id = std::move(id);
    spec.sort = sort;
    spec.matchMode = mode;
    spec.type = static_cast<int>(flow);
    spec.conditions = std::move(conditions);
    spec.rules = {rule("r", 1, {kAny})};
    return spec;
}

// "selector/rule", "selector/-" without a rule, "no rule in selector" or "no selector".
std::string chosen(const std::vector<SelectorSpec>& specs, const Subject& subject = FakeSubject()) {
    auto matcher = PluginMatcher::compile(specs);
    REQUIRE(matcher.ok());
    const Choice choice = (*matcher)->choose(subject);
    if (choice.outcome == Choice::NoSelector) return "no selector";
    if (choice.outcome == Choice::NoRule) return "no rule in " + choice.selector->id;
    return choice.selector->id + "/" + (choice.rule ? choice.rule->id : "-");
}

}  // namespace

TEST_CASE("Among matching selectors the one with most and-conditions wins, then the lowest sort, in any input order") {
    std::vector<SelectorSpec> specs{
        selector("a", 1, {kAny, kGet}, kOr),
        selector("b", 9, {kAny, kGet}),
        selector("c", 2, {kAny}),
        selector("x", 0, {kAny, kGet, kNever}),
    };
    std::vector<int> order{0, 1, 2, 3};
    do {
        std::vector<SelectorSpec> shuffled;
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
    int standard = 0;
    spec.continued = false;
    spec.defaultRule = &standard;
    spec.rules.clear();
    CHECK(chosen({spec}) == "s/-");
    auto matcher = PluginMatcher::compile({spec});
    REQUIRE(matcher.ok());
    CHECK((*matcher)->choose(FakeSubject()).selector->defaultRule == &standard);
}

TEST_CASE("A custom flow selector without conditions never matches") {
    CHECK(chosen({selector("s", 1, {})}) == "no selector");
    CHECK(chosen({selector("s", 1, {}, kOr)}) == "no selector");
    CHECK(chosen({}) == "no selector");
    CHECK(chosen({selector("s", 1, {}, kAnd, Flow::Full)}) == "s/r");
}

TEST_CASE("Handles come back as they were given") {
    int selectorHandle = 0;
    int ruleHandle = 0;
    auto spec = selector("s", 1, {kAny});
    spec.handle = &selectorHandle;
    spec.rules[0].handle = &ruleHandle;
    auto matcher = PluginMatcher::compile({spec});
    REQUIRE(matcher.ok());
    const Choice choice = (*matcher)->choose(FakeSubject());
    CHECK(choice.selector->handle == &selectorHandle);
    CHECK(choice.rule->handle == &ruleHandle);
}

TEST_CASE("An error names the selector, the rule and the condition") {
    auto spec = selector("7", 1, {kAny});
    spec.rules = {rule("8", 1, {kAny, {"uri", "pathPattern", "/", "/api/**/x"}})};
    auto matcher = PluginMatcher::compile({spec});
    REQUIRE_FALSE(matcher.ok());
    CHECK(matcher.error().message ==
          "selector 'selector 7' (id '7'), rule 'rule 8' (id '8'), condition 2: pathPattern '/api/**/x': position 6: "
          "'**' is only allowed as the last segment of a pathPattern");
    spec.type = 3;
    matcher = PluginMatcher::compile({spec});
    REQUIRE_FALSE(matcher.ok());
    CHECK(matcher.error().message ==
          "selector 'selector 7' (id '7'), type is 3, expected 0 (full flow) or 1 (custom flow)");
}

TEST_CASE("Choosing allocates nothing") {
    FakeSubject subject;
    subject.path = "/order/a%20b/c";
    subject.query = "x=1&name=a%20b";
    subject.headers = {{"Cookie", "a=1; b=2"}};
    auto spec = selector("s", 1, {{"uri", "match", "/", "/**/c"}, {"uri", "pathPattern", "/", "/order/{id}/c"},
                                  {"query", "=", "name", "a b"}, {"cookie", "=", "b", "2"},
                                  {"uri", "contains", "/", "%"}});
    auto matcher = PluginMatcher::compile({selector("other", 0, {kNever}), spec});
    REQUIRE(matcher.ok());
    const long before = allocations;
    const Choice choice = (*matcher)->choose(subject);
    const long after = allocations;
    CHECK(choice.outcome == Choice::Matched);
    CHECK(after == before);
    CHECK(before > 0);  // the counter works
}

}  // namespace weir::match
