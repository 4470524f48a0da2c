#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/host.hpp"

namespace weir {

// One condition of a selector or rule, as far as its operator needs to know it.
struct Condition {
    std::string paramType;   // "header"
    std::string paramName;   // "x-user"
    std::string paramValue;  // what the operator is to compare with; trimmed
};

// An operator of conditions (ShenYu's PredicateJudge). One object for each condition, constructed on the control thread
// from the condition (`const weir::Condition&`): parse the paramValue there. An exception refuses the condition, with
// its text.
class PredicateJudge {
public:
    virtual ~PredicateJudge() = default;
    // Whether the value meets the condition. `value` lives until the call returns. Any loop's thread, several at once.
    // Must not block. An exception is logged, and the value does not meet the condition.
    virtual bool judge(std::string_view value) const = 0;

protected:
    PredicateJudge() = default;
    Host host() const { return Host(); }
};

struct PredicateJudgeOptions {
    bool blanks = false;  // judges blank and missing values, too (as empty); else they never meet the condition
};

namespace detail {

// The C table of an operator's class.
class PredicateJudgeTable {
public:
    template <class T>
    static weir_predicate_judge make(std::string_view key, const PredicateJudgeOptions& options) {
        return {sizeof(weir_predicate_judge), options.blanks, str(key), &create<T>, &destroy, &judge};
    }

private:
    template <class T>
    static weir_status create(const weir_host* host, const weir_condition* condition, void** state,
                              weir_error* error) noexcept {
        if (const weir_status adopted = adoptHost(host, error); adopted != WEIR_OK) return adopted;
        return guarded(error, [&] {
            const Condition copy{std::string(view(condition->param_type)), std::string(view(condition->param_name)),
                                 std::string(view(condition->param_value))};
            *state = static_cast<PredicateJudge*>(new T(copy));
            return WEIR_OK;
        });
    }
    static void destroy(void* state) noexcept { delete static_cast<PredicateJudge*>(state); }
    static std::int32_t judge(void* state, weir_str value) noexcept {
        return answerOr(false, "judge", [&] { return static_cast<const PredicateJudge*>(state)->judge(view(value)); });
    }
};

}  // namespace detail

}  // namespace weir
