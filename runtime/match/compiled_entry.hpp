#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "match/condition.hpp"
#include "match/providers.hpp"

namespace weir::match {

// Input of compile(): rules and selectors as written (fact sheet 1.3, 1.4). Handles are passed through untouched and
// kept alive by what is compiled.
struct RuleSpec {
    std::string id;
    std::string name;
    bool enabled = true;
    bool logged = false;
    int sort = 0;
    std::string matchMode = "and";  // "and", "or" or a strategy's name
    std::vector<ConditionSpec> conditions;
    std::shared_ptr<void> handle;
};

struct SelectorSpec {
    std::string id;
    std::string name;
    bool enabled = true;
    bool logged = false;
    int sort = 0;
    std::string matchMode = "and";
    int type = 1;  // 0: full flow, 1: custom flow
    bool continued = true;
    std::vector<ConditionSpec> conditions;
    std::shared_ptr<void> handle;
    std::shared_ptr<void> defaultRule;  // the handle to run with when `continued` is false
};

// What a choice names; owned by the compiled entry. What each request reads stands together.
struct Rule {
    std::string id;
    void* handle;
    bool logged;
    std::string name;
};

struct Selector {
    std::string id;
    void* handle;
    void* defaultRule;
    bool logged;
    bool continued;
    std::string name;
};

// Counts what a choice costs, for tests and measurements.
struct Work {
    std::uint64_t conditions = 0;  // evaluated
    std::uint64_t probes = 0;      // of the index
};

// The conditions of one entry and how they combine. Immutable, any thread.
class Conditions {
public:
    enum class Mode : std::uint8_t { And, Or, Strategy };

    // In list order with short circuit; an empty list holds with `and` and does not with `or`.
    bool hold(const Subject& subject, Work* work = nullptr) const noexcept;

    Mode mode() const { return mode_; }
    std::span<const Condition> list() const { return list_; }

    // The same for a copy of list() and mode(), which spares a way through memory; not for strategies.
    static bool hold(std::span<const Condition> list, Mode mode, const Subject& subject, Work* work) noexcept {
        const bool any = mode == Mode::Or;
        for (const auto& condition : list) {
            if (work) ++work->conditions;
            if (condition.holds(subject) == any) return any;
        }
        return !any;
    }

private:
    friend struct EntryCompiler;

    std::vector<Condition> list_;
    std::shared_ptr<const Strategy> strategy_;
    Mode mode_ = Mode::And;
};

// What rules and selectors have in common once compiled.
struct CompiledEntry {
    enum class State : std::uint8_t {
        Active,
        Disabled,
        Waiting,       // for a name that nobody offers yet: see `waiting`
        NoConditions,  // a custom flow selector without any takes no request
    };

    // What becomes of the rules of a selector.
    enum class Rules : std::uint8_t { Tested, LastUntested /* full flow */, Unused /* not continued */ };

    State state = State::Active;
    Rules rules = Rules::Tested;
    std::uint32_t rank = 0;  // how many `and` conditions it has: the more, the better the match
    int sort = 0;
    Conditions conditions;  // empty for a full flow, which has a rank all the same
    // Those of the first conditions once more, so that an index of many entries needs only the entries themselves.
    std::array<Anchor, 3> anchors;
    std::string waiting;    // why; also when it is disabled
    std::vector<std::string> remarks;  // warnings for the operator
};

struct CompiledRule : CompiledEntry {
    Rule rule;
    std::shared_ptr<void> handle;
};

struct CompiledSelector : CompiledEntry {
    Selector selector;
    std::shared_ptr<void> handle;
    std::shared_ptr<void> defaultRule;
};

// Why an entry is refused; the message does not name the entry.
struct CompileError : base::Error {
    static constexpr std::size_t kNoCondition = static_cast<std::size_t>(-1);
    std::size_t condition = kNoCondition;  // index of the condition that is wrong; the message counts it from 1
};

// Control thread. A paramType, operator or matchMode that nobody offers makes an entry that waits: it never matches,
// and `waiting` names the condition (counted from 1) and the nearest name. The conditions of a full flow selector are
// checked, but as nobody evaluates them, one that waits is only a remark.
base::Result<std::shared_ptr<const CompiledRule>, CompileError> compile(RuleSpec spec, const Providers& providers);
base::Result<std::shared_ptr<const CompiledSelector>, CompileError> compile(SelectorSpec spec,
                                                                            const Providers& providers);

}  // namespace weir::match
