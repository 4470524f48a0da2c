#include "match/plugin_matcher.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weir::match {
namespace {

constexpr int kOr = 1;
constexpr int kFullFlow = 0;
constexpr int kCustomFlow = 1;

base::Error within(const std::string& what, const std::string& name, const std::string& id, base::Error error) {
    error.message = what + " '" + name + "' (id '" + id + "'), " + error.message;
    return error;
}

bool bySort(const auto& a, const auto& b) { return std::tie(a.sort, a.id) < std::tie(b.sort, b.id); }

// Whoever comes first in this order wins against all behind it, so the first match is the best match.
void sortBestFirst(auto& specs) {
    std::stable_sort(specs.begin(), specs.end(), [](const auto& a, const auto& b) {
        const auto rank = [](const auto& spec) { return spec.matchMode == kOr ? 0 : spec.conditions.size(); };
        return rank(a) != rank(b) ? rank(a) > rank(b) : bySort(a, b);
    });
}

}  // namespace

base::Result<PluginMatcher::Conditions> PluginMatcher::compileConditions(const std::vector<ConditionSpec>& specs,
                                                                         int matchMode) {
    Conditions conditions;
    conditions.any = matchMode == kOr;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        auto condition = Condition::compile(specs[i]);
        if (!condition) {
            auto error = std::move(condition).error();
            error.message = "condition " + std::to_string(i + 1) + ": " + error.message;
            return error;
        }
        conditions.list.push_back(std::move(condition).value());
    }
    return conditions;
}

base::Result<std::vector<PluginMatcher::RuleEntry>> PluginMatcher::compileRules(std::vector<RuleSpec> specs,
                                                                                bool fullFlow) {
    sortBestFirst(specs);
    const auto last = std::max_element(specs.begin(), specs.end(), [](auto& a, auto& b) { return bySort(a, b); });
    std::vector<RuleEntry> rules;
    for (auto spec = specs.begin(); spec != specs.end(); ++spec) {
        auto conditions = compileConditions(spec->conditions, spec->matchMode);
        if (!conditions) return within("rule", spec->name, spec->id, std::move(conditions).error());
        if (fullFlow ? spec != last : !spec->enabled) continue;
        rules.push_back({{spec->id, spec->name, spec->handle},
                         fullFlow ? Conditions{} : std::move(conditions).value()});
    }
    return rules;
}

base::Result<std::shared_ptr<const PluginMatcher>> PluginMatcher::compile(std::vector<SelectorSpec> specs) {
    sortBestFirst(specs);
    auto matcher = std::make_shared<PluginMatcher>();
    for (auto& spec : specs) {
        if (spec.type != kFullFlow && spec.type != kCustomFlow) {
            return within("selector", spec.name, spec.id,
                          {base::ErrorCode::InvalidConfig, "",
                           "type is " + std::to_string(spec.type) + ", expected 0 (full flow) or 1 (custom flow)"});
        }
        const bool fullFlow = spec.type == kFullFlow;
        auto conditions = compileConditions(spec.conditions, spec.matchMode);
        if (!conditions) return within("selector", spec.name, spec.id, std::move(conditions).error());
        auto rules = compileRules(std::move(spec.rules), fullFlow);
        if (!rules) return within("selector", spec.name, spec.id, std::move(rules).error());
        if (!spec.enabled || (!fullFlow && spec.conditions.empty())) continue;
        matcher->selectors_.push_back({{spec.id, spec.name, spec.continued, spec.handle, spec.defaultRule},
                                       fullFlow ? Conditions{} : std::move(conditions).value(),
                                       std::move(rules).value()});
    }
    return std::shared_ptr<const PluginMatcher>(std::move(matcher));
}

bool PluginMatcher::Conditions::hold(const Subject& subject) const noexcept {
    for (const auto& condition : list) {
        if (condition.holds(subject) == any) return any;
    }
    return !any;
}

Choice PluginMatcher::choose(const Subject& subject) const noexcept {
    for (const auto& entry : selectors_) {
        if (!entry.conditions.hold(subject)) continue;
        if (!entry.selector.continued) return {Choice::Matched, &entry.selector, nullptr};
        for (const auto& rule : entry.rules) {
            if (rule.conditions.hold(subject)) return {Choice::Matched, &entry.selector, &rule.rule};
        }
        return {Choice::NoRule, &entry.selector, nullptr};
    }
    return {Choice::NoSelector, nullptr, nullptr};
}

}  // namespace weir::match
