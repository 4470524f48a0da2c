#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "match/compiled_entry.hpp"

namespace weir::match {

struct Choice {
    enum Outcome { Matched, NoSelector, NoRule };
    Outcome outcome;
    const Selector* selector;  // null for NoSelector
    const Rule* rule;          // null unless Matched, and when the selector is not `continued`: use its defaultRule
};

// What became of one selector or rule, and why.
struct Verdict {
    enum class State {
        Matched,       // this one is used
        Outranked,     // holds, but a better one does too; in a full flow, every rule that is not the last
        Disabled,
        Waiting,       // `reason` says for what
        NoConditions,  // a custom flow selector without any
        Failed,        // `failed` says at which condition
    };
    struct Failure {
        std::size_t condition;  // index of the first that does not hold
        ConditionSpec spec;
        std::string value;  // what the request has there, at most kMaxValue bytes of it
        bool clipped = false;
    };
    static constexpr std::size_t kMaxValue = 256;

    std::string id;
    std::string name;
    State state;
    std::string reason;
    std::optional<Failure> failed;  // none if no condition is to blame: an empty `or`, a strategy
};

struct Explanation {
    Choice choice;
    std::vector<Verdict> selectors;  // best first
    std::size_t selectorsTotal = 0;
    std::vector<Verdict> rules;      // of the chosen selector; none when it is not `continued`
    std::size_t rulesTotal = 0;
};

}  // namespace weir::match
