#include "match/explanation.hpp"

#include "match/plugin_matcher.hpp"

namespace weir::match {
namespace {

using State = Verdict::State;

Verdict::Failure failure(const Condition& condition, std::size_t index, const Subject& subject) {
    Verdict::Failure failure{index, condition.spec(), condition.valueOf(subject)};
    failure.clipped = failure.value.size() > Verdict::kMaxValue;
    if (failure.clipped) {
        std::size_t end = Verdict::kMaxValue;
        for (int i = 0; i < 3 && (failure.value[end] & 0xC0) == 0x80; ++i) --end;  // not within a UTF-8 character
        failure.value.resize(end);
    }
    return failure;
}

void judge(Verdict& verdict, const Conditions& conditions, const Subject& subject) {
    verdict.state = State::Outranked;
    if (conditions.hold(subject)) return;
    verdict.state = State::Failed;
    for (std::size_t i = 0; i < conditions.list().size(); ++i) {
        if (conditions.list()[i].holds(subject)) continue;
        verdict.failed = failure(conditions.list()[i], i, subject);
        return;
    }
}

// `won`: choose() took it. `tested`: its conditions count.
Verdict verdictOn(const CompiledEntry& entry, const auto& named, bool won, bool tested, const Subject& subject) {
    Verdict verdict{named.id, named.name, State::Outranked, {}, {}};
    if (won) {
        verdict.state = State::Matched;
    } else if (tested) {
        switch (entry.state) {
            case CompiledEntry::State::Active: judge(verdict, entry.conditions, subject); break;
            case CompiledEntry::State::Disabled: verdict.state = State::Disabled; break;
            case CompiledEntry::State::Waiting:
                verdict.state = State::Waiting;
                verdict.reason = entry.waiting;
                break;
            case CompiledEntry::State::NoConditions: verdict.state = State::NoConditions; break;
        }
    }
    return verdict;
}

}  // namespace

Explanation PluginMatcher::explain(const Subject& subject, std::size_t limit) const {
    Explanation explanation{choose(subject), {}, entries_.size(), {}, 0};
    const Choice& choice = explanation.choice;
    const Entry* chosen = nullptr;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const CompiledSelector& selector = *entries_[i].selector;
        const bool won = choice.selector == &selector.selector;
        if (won) chosen = &entries_[i];
        if (i < limit || won) {
            explanation.selectors.push_back(verdictOn(selector, selector.selector, won, true, subject));
        }
    }
    if (!chosen || !chosen->rules || !chosen->selector->selector.continued) return explanation;
    const auto& rules = chosen->rules->rules();
    const bool tested = chosen->selector->rules == CompiledEntry::Rules::Tested;
    explanation.rulesTotal = rules.size();
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const bool won = choice.rule == &rules[i]->rule;
        if (i < limit || won) {
            explanation.rules.push_back(verdictOn(*rules[i], rules[i]->rule, won, tested, subject));
        }
    }
    return explanation;
}

}  // namespace weir::match
