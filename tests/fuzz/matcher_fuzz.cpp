// Input: selectors with their rules, then requests, all made of a few words so that they meet. Most requests aim at a
// selector and at one of its rules. What is chosen must be what a plain reading of the rules chooses, the explanation
// must say the same, and it must take linear time.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/ascii.hpp"
#include "fuzz/matcher_input.hpp"
#include "fuzz/matcher_reference.hpp"
#include "match/plugin_matcher.hpp"
#include "match/segment_pattern.hpp"
#include "unit/match/fake_subject.hpp"

namespace {

using namespace weir;
using namespace weir::match;
using fuzz::Input;
using fuzz::referenceHolds;

const std::vector<const char*> kPathWords{"/", "/a", "/b", "/ab", "a", "b", "%2F", "%61", ";v", "1", "-", "//", "/a/"};
const std::vector<const char*> kPatternWords{"/",   "/a",  "/b", "/ab", "a",  "b",   "%61",  "/*",          "/**",
                                             "/{x}", "{y}", "*",  "?",   "//", "/a/", "/{*r}", "/{z:[ab]+}"};
const std::vector<const char*> kValueWords{"a",  "b",    "ab", "1",   "10", "-", ".5", " ",
                                           "x=", "&x=",  ";",  "%61", "+",  "2020-01-01 00:00:00"};
const std::vector<const char*> kTimes{"2020-01-01 00:00:00", "9999-12-31 23:59:59", "2020-01-01 00:00:01"};

// An entry as it was written, beside what it was compiled to.
template <class Spec, class Compiled>
struct Pair {
    Spec spec;
    std::shared_ptr<const Compiled> compiled;
};
using RulePair = Pair<RuleSpec, CompiledRule>;
struct SelectorPair : Pair<SelectorSpec, CompiledSelector> {
    std::vector<RulePair> rules;
};

bool conditionsHold(const auto& pair, const Subject& subject) {
    std::size_t holding = 0;
    for (const Condition& condition : pair.compiled->conditions.list()) {
        holding += referenceHolds(condition.spec(), condition.valueOf(subject), condition, subject);
    }
    const std::size_t count = pair.spec.conditions.size();
    if (pair.spec.matchMode == "and") return holding == count;
    if (pair.spec.matchMode == "or") return holding > 0;
    return holding * 2 > count;
}

bool better(const auto& a, const auto& b, Order order) {
    const auto rank = [order](const auto& spec) {
        return order == Order::Best && spec.matchMode == "and" ? spec.conditions.size() : 0;
    };
    const auto key = [&](const auto& spec) { return std::tuple(-static_cast<long>(rank(spec)), spec.sort, spec.id); };
    return key(a) < key(b);
}

bool takes(const SelectorPair& pair, const Subject& subject) {
    if (!pair.spec.enabled) return false;
    if (pair.spec.type == 0) return true;
    return pair.compiled->waiting.empty() && !pair.spec.conditions.empty() && conditionsHold(pair, subject);
}

bool takes(const RulePair& pair, const Subject& subject) {
    return pair.spec.enabled && pair.compiled->waiting.empty() && conditionsHold(pair, subject);
}

const auto* bestOf(const auto& pairs, const Subject& subject, Order order) {
    decltype(pairs.data()) best = nullptr;
    for (const auto& pair : pairs) {
        if (takes(pair, subject) && (!best || better(pair.spec, best->spec, order))) best = &pair;
    }
    return best;
}

struct Expected {
    Choice::Outcome outcome = Choice::NoSelector;
    const SelectorPair* selector = nullptr;
    const RulePair* rule = nullptr;
};

Expected expectedOf(const std::vector<SelectorPair>& selectors, const Subject& subject, Order order) {
    Expected expected;
    expected.selector = bestOf(selectors, subject, order);
    if (!expected.selector) return expected;
    expected.outcome = Choice::Matched;
    if (!expected.selector->spec.continued) return expected;
    const std::vector<RulePair>& rules = expected.selector->rules;
    if (expected.selector->spec.type == 0) {
        for (const RulePair& rule : rules) {
            if (!expected.rule || better(expected.rule->spec, rule.spec, Order::First)) expected.rule = &rule;
        }
    } else {
        expected.rule = bestOf(rules, subject, order);
    }
    if (!expected.rule) expected.outcome = Choice::NoRule;
    return expected;
}

// The world under test.

struct Majority final : Strategy {
    bool holds(std::uint32_t count, const ConditionResults& conditions) const noexcept override {
        std::uint32_t holding = 0;
        for (std::uint32_t i = 0; i < count; ++i) holding += conditions.holds(i);
        return holding * 2 > count;
    }
};

struct MethodType final : ParameterType {
    struct Reader final : ValueReader {
        std::string_view read(const Subject& subject) const noexcept override { return subject.method(); }
    };
    base::Result<std::unique_ptr<const ValueReader>> bind(const std::string&) const override {
        return std::unique_ptr<const ValueReader>(std::make_unique<Reader>());
    }
};

Providers providers() {
    Providers result;
    result.strategies["majority"] = std::make_shared<Majority>();
    result.parameterTypes["verb"] = std::make_shared<MethodType>();
    return result;
}

ConditionSpec readCondition(Input& input) {
    static const std::vector<const char*> kTypes{"uri", "uri",        "uri",    "header", "query", "cookie", "host",
                                                 "ip",  "req_method", "domain", "post",   "verb",  "moon"};
    static const std::vector<const char*> kOperators{
        "=",        "match",    "pathPattern", "startsWith", "regex", ">",          "<",         "contains",
        "endsWith", "exclude",  "isBlank",     "=",          "match", "TimeBefore", "TimeAfter", "pathPattern",
        "unheard"};
    ConditionSpec spec;
    spec.paramType = input.oneOf(kTypes);
    spec.operatorName = input.oneOf(kOperators);
    spec.paramName = spec.paramType == "post" ? input.oneOf({"rpcType", "appKey"}) : input.oneOf({"x", "y", ""});
    const bool pattern = spec.operatorName == "match" || spec.operatorName == "pathPattern" ||
                         spec.operatorName == "exclude";
    if (spec.operatorName.starts_with("Time")) spec.paramValue = input.oneOf(kTimes);
    else if (spec.paramType == "uri") spec.paramValue = input.text(pattern ? kPatternWords : kPathWords);
    else if (spec.paramType == "req_method" || spec.paramType == "verb") spec.paramValue = input.oneOf({"GET", "PUT"});
    else spec.paramValue = input.text(kValueWords);
    return spec;
}

void readEntry(Input& input, auto& spec, std::size_t index) {
    spec.id = std::string(input.oneOf({"a", "b", "c"})) + std::to_string(index);
    spec.name = "entry " + spec.id;
    spec.enabled = input.below(8) != 7;
    spec.sort = static_cast<int>(input.below(4)) - 2;
    spec.matchMode = input.oneOf({"and", "or", "and", "majority", "and", "or", "unheard"});
    for (unsigned left = input.below(4); left > 0; --left) spec.conditions.push_back(readCondition(input));
}

// So many that there is an index.
void addFillers(auto& pairs) {
    for (int i = 0; i < 9; ++i) {
        auto& pair = pairs.emplace_back();
        pair.spec.id = "filler" + std::to_string(i);
        pair.spec.conditions = {{"uri", "=", "/", "/filler" + std::to_string(i)}};
        pair.compiled = compile(pair.spec, {}).value();
    }
}

std::vector<SelectorPair> readSelectors(Input& input, bool fill) {
    static const Providers kProviders = providers();
    std::vector<SelectorPair> selectors;
    for (unsigned left = input.below(40); left > 0 && !input.empty(); --left) {
        SelectorPair pair;
        readEntry(input, pair.spec, selectors.size());
        pair.spec.type = input.below(8) == 7 ? 0 : 1;
        pair.spec.continued = input.below(8) != 7;
        auto compiled = compile(pair.spec, kProviders);
        for (unsigned rules = input.below(20); rules > 0; --rules) {
            RulePair rule;
            readEntry(input, rule.spec, pair.rules.size());
            auto one = compile(rule.spec, kProviders);
            if (!one) {
                WEIR_ASSERT(one.error().condition < rule.spec.conditions.size());
                continue;
            }
            rule.compiled = *one;
            pair.rules.push_back(std::move(rule));
        }
        if (fill) addFillers(pair.rules);
        if (!compiled) continue;
        pair.compiled = *compiled;
        selectors.push_back(std::move(pair));
    }
    if (fill) addFillers(selectors);
    return selectors;
}

// A path near those that `pattern` is for. It may be written in ways that mean the same to some operators only.
std::string pathFor(Input& input, std::string_view pattern) {
    const unsigned style = input.below(8);
    const bool encoded = style & 1, withParameters = style & 2, doubled = style & 4;
    std::string path;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const char c = pattern[i];
        const std::size_t close = c == '{' ? SegmentPattern::closingBrace(pattern, i) : pattern.npos;
        if (c == '/') {
            if (withParameters && i > 0) path += ";x=1";
            path += doubled ? "//" : "/";
        } else if (c == '*' || c == '?' || close != pattern.npos) {
            path += input.oneOf({"a", "b", "", "ab", "a/b", "%61", "%2f", "%2F"});
            if (close != pattern.npos) i = close;
        } else if (encoded) {
            constexpr std::string_view kDigits = "0123456789aBcDeF";
            path += {'%', kDigits[static_cast<unsigned char>(c) >> 4], kDigits[c & 15]};
        } else {
            path += c;
        }
    }
    return path + input.oneOf({"", "", "/", "/a", "a", ";x=1", "%2f", "//"});
}

// Makes it likely that a condition of `pair` holds, or nearly so.
void aimAt(const auto& pair, Input& input, FakeSubject& subject) {
    const std::vector<ConditionSpec>& conditions = pair.spec.conditions;
    if (conditions.empty()) return;
    const ConditionSpec& spec = conditions[input.below(static_cast<unsigned>(conditions.size()))];
    if (spec.paramType == "uri") {
        subject.path = pathFor(input, trim(spec.paramValue));
        return;
    }
    const std::string value = std::string(trim(spec.paramValue)) + input.oneOf({"", "", "a", " "});
    if (spec.paramType == "domain") subject.host = base::toLower(value);
    else if (spec.paramType == "ip" || spec.paramType == "host") subject.client = value;
    else if (spec.paramType == "query") subject.query = spec.paramName + "=" + value;
    else if (spec.paramType == "header") subject.headers[0] = {spec.paramName, value};
    else if (spec.paramType == "cookie") subject.headers[1].second = spec.paramName + "=" + value;
    else if (spec.paramType == "post") subject.fields[ContextField::RpcType] = value;
}

FakeSubject readRequest(Input& input, const std::vector<SelectorPair>& selectors) {
    FakeSubject subject;
    subject.path = "/" + input.text(kPathWords);
    if (input.below(16) == 15) subject.path.erase(0, 1);
    subject.verb = input.oneOf({"GET", "PUT"});
    subject.query = "x=" + input.text(kValueWords);
    subject.host = base::toLower(input.text(kValueWords));
    subject.client = input.text(kValueWords);
    subject.headers = {{"X", input.text(kValueWords)}, {"Cookie", "x=" + input.text(kValueWords)}};
    subject.fields[ContextField::RpcType] = input.text(kValueWords);
    if (selectors.empty() || input.below(4) == 0) return subject;
    const SelectorPair& selector = selectors[input.below(static_cast<unsigned>(selectors.size()))];
    aimAt(selector, input, subject);
    if (selector.rules.empty() || input.below(4) == 0) return subject;
    aimAt(selector.rules[input.below(static_cast<unsigned>(selector.rules.size()))], input, subject);
    return subject;
}

std::shared_ptr<const PluginMatcher> matcherOf(const std::vector<SelectorPair>& selectors, Order order) {
    std::vector<PluginMatcher::Entry> entries;
    for (const SelectorPair& selector : selectors) {
        std::vector<std::shared_ptr<const CompiledRule>> rules;
        for (const RulePair& rule : selector.rules) rules.push_back(rule.compiled);
        entries.push_back({selector.compiled, RuleSet::build(std::move(rules), order)});
    }
    return PluginMatcher::build(std::move(entries), order);
}

// How often matching may look at a byte for one purpose. Purposes: to ask a condition once (one more for each segment
// between two `**`), to read a value that many conditions are looked up by, to look up the path.
constexpr std::uint64_t kLooks = 4;

std::uint64_t bytesOf(const FakeSubject& subject) {
    std::size_t bytes = subject.path.size() + subject.verb.size() + subject.query.size() + subject.host.size() +
                        subject.client.size();
    for (const auto& [name, value] : subject.headers) bytes += value.size();
    for (const auto& [field, value] : subject.fields) bytes += value.size();
    return bytes;
}

// What a choice goes by: the conditions of all selectors and of the rules of one.
struct Table {
    std::uint64_t conditions = 0;
    std::uint64_t bytes = 0;  // of the conditions
    std::uint64_t between = 0;
    std::set<std::pair<std::string, std::string>> sources;

    void add(const auto& pairs) {
        for (const auto& pair : pairs) {
            ++bytes;
            for (const ConditionSpec& spec : pair.spec.conditions) {
                ++conditions;
                bytes += 1 + spec.paramName.size() + spec.paramValue.size();
                between = std::max<std::uint64_t>(between, fuzz::mostBetween(spec));
                sources.emplace(spec.paramType, spec.paramName);
            }
        }
    }
};

std::uint64_t stepsOf(const auto& work) {
    stepsCounted = 0;
    work();
    return stepsCounted;
}

// Each condition on its own takes time linear in the request and in the condition.
void checkSteps(const auto& pairs, const FakeSubject& subject) {
    for (const auto& pair : pairs) {
        if (!pair.compiled->waiting.empty()) continue;
        for (const Condition& condition : pair.compiled->conditions.list()) {
            const ConditionSpec& spec = condition.spec();
            const std::uint64_t bytes = 1 + spec.paramName.size() + spec.paramValue.size() +
                                        (1 + fuzz::mostBetween(spec)) * (1 + bytesOf(subject));
            WEIR_ASSERT(stepsOf([&] { condition.holds(subject); }) <= kLooks * bytes);
        }
    }
}

void checkVerdicts(const std::vector<Verdict>& verdicts, const auto& pairs, const std::string* chosen, bool tested,
                   const Subject& subject) {
    WEIR_ASSERT(verdicts.size() == pairs.size());
    for (const Verdict& verdict : verdicts) {
        const auto pair = std::ranges::find_if(pairs, [&](const auto& p) { return p.spec.id == verdict.id; });
        WEIR_ASSERT(pair != pairs.end());
        const bool won = chosen && *chosen == verdict.id;
        WEIR_ASSERT(won == (verdict.state == Verdict::State::Matched));
        if (won || !tested) continue;
        WEIR_ASSERT(takes(*pair, subject) == (verdict.state == Verdict::State::Outranked));
        if (!verdict.failed) continue;
        const Condition& condition = pair->compiled->conditions.list()[verdict.failed->condition];
        WEIR_ASSERT(!referenceHolds(condition.spec(), condition.valueOf(subject), condition, subject));
    }
}

void check(const PluginMatcher& matcher, const std::vector<SelectorPair>& selectors, const FakeSubject& subject,
           Order order) {
    const Expected expected = expectedOf(selectors, subject, order);
    Work work;
    Choice choice;
    const std::uint64_t steps = stepsOf([&] { choice = matcher.choose(subject, &work); });
    WEIR_ASSERT(choice.outcome == expected.outcome);
    WEIR_ASSERT((choice.selector != nullptr) == (expected.selector != nullptr));
    WEIR_ASSERT((choice.rule != nullptr) == (expected.rule != nullptr));
    if (choice.selector) WEIR_ASSERT(choice.selector->id == expected.selector->spec.id);
    if (choice.rule) WEIR_ASSERT(choice.rule->id == expected.rule->spec.id);
    Table table;
    table.add(selectors);
    checkSteps(selectors, subject);
    if (expected.selector) {
        table.add(expected.selector->rules);
        checkSteps(expected.selector->rules, subject);
    }
    WEIR_ASSERT(work.conditions <= table.conditions);  // each once
    const std::uint64_t purposes = 2 + table.sources.size() + work.conditions * (1 + table.between);
    WEIR_ASSERT(steps <= kLooks * (purposes * (1 + bytesOf(subject)) + table.bytes));

    const Explanation all = matcher.explain(subject, 1000);
    WEIR_ASSERT(all.choice.selector == choice.selector && all.choice.rule == choice.rule);
    checkVerdicts(all.selectors, selectors, choice.selector ? &choice.selector->id : nullptr, true, subject);
    if (!choice.selector || !choice.selector->continued) return;
    checkVerdicts(all.rules, expected.selector->rules, choice.rule ? &choice.rule->id : nullptr,
                  expected.selector->spec.type != 0, subject);
    const Explanation few = matcher.explain(subject, 2);
    WEIR_ASSERT(few.selectors.size() <= 3 && few.rules.size() <= 3);
    WEIR_ASSERT(few.selectorsTotal == selectors.size() && few.rulesTotal == expected.selector->rules.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    const unsigned kind = input.below(4);
    const Order order = kind == 3 ? Order::First : Order::Best;
    const std::vector<SelectorPair> selectors = readSelectors(input, kind != 0);
    const auto matcher = matcherOf(selectors, order);
    do {
        check(*matcher, selectors, readRequest(input, selectors), order);
    } while (!input.empty());
    return 0;
}
