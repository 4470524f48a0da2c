#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "match/condition.hpp"
#include "match/subject.hpp"

namespace weir::match {

// Input of compile(): selectors and rules as written (fact sheet 1.3, 1.4). Handles are passed through untouched.
struct RuleSpec {
    std::string id;
    std::string name;
    bool enabled = true;
    int sort = 0;
    int matchMode = 0;  // 1: or; everything else: and
    std::vector<ConditionSpec> conditions;
    void* handle = nullptr;
};

struct SelectorSpec {
    std::string id;
    std::string name;
    bool enabled = true;
    int sort = 0;
    int matchMode = 0;
    int type = 1;  // 0: full flow, 1: custom flow
    bool continued = true;
    std::vector<ConditionSpec> conditions;
    std::vector<RuleSpec> rules;
    void* handle = nullptr;
    void* defaultRule = nullptr;  // the handle to run with when `continued` is false
};

// What choose() names; owned by the matcher.
struct Rule {
    std::string id;
    std::string name;
    void* handle;
};

struct Selector {
    std::string id;
    std::string name;
    bool continued;
    void* handle;
    void* defaultRule;
};

struct Choice {
    enum Outcome { Matched, NoSelector, NoRule };
    Outcome outcome;
    const Selector* selector;  // null for NoSelector
    const Rule* rule;          // null unless Matched, and when the selector is not `continued`: use its defaultRule
};

// All selectors and rules of one plugin, compiled. Immutable; choose() may be called by any thread, takes no lock and
// allocates nothing but for what Condition says. Results live as long as the matcher.
class PluginMatcher {
public:
    // The error's message names selector, rule and condition (counted from 1) and what was expected; its code is
    // Condition::compile's. Disabled entries and conditions that a full flow ignores are checked too.
    static base::Result<std::shared_ptr<const PluginMatcher>> compile(std::vector<SelectorSpec> specs);

    // Fact sheet 3.7, steps 2 and 4 to 9. Among several that match, the one with the most `and` conditions wins, then
    // the lowest sort, then the lowest id. A full flow selector takes every request and its last rule untested, even a
    // disabled one; a custom flow selector without conditions takes none.
    Choice choose(const Subject& subject) const noexcept;

private:
    struct Conditions {
        bool any = false;  // or
        std::vector<Condition> list;

        bool hold(const Subject& subject) const noexcept;
    };
    struct RuleEntry {
        Rule rule;
        Conditions conditions;
    };
    struct SelectorEntry {
        Selector selector;
        Conditions conditions;
        std::vector<RuleEntry> rules;
    };

    static base::Result<Conditions> compileConditions(const std::vector<ConditionSpec>& specs, int matchMode);
    static base::Result<std::vector<RuleEntry>> compileRules(std::vector<RuleSpec> specs, bool fullFlow);

    std::vector<SelectorEntry> selectors_;  // best first, as are the rules of each
};

}  // namespace weir::match
