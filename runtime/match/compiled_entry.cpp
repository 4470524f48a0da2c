#include "match/compiled_entry.hpp"

#include <utility>

#include "base/value.hpp"

namespace weir::match {
namespace {

constexpr int kFullFlow = 0;
constexpr int kCustomFlow = 1;

class Results final : public ConditionResults {
public:
    Results(std::span<const Condition> conditions, const Subject& subject, Work* work)
        : conditions_(conditions), subject_(subject), work_(work) {}
    bool holds(std::uint32_t index) const noexcept override {
        if (work_) ++work_->conditions;
        return index < conditions_.size() && conditions_[index].holds(subject_);
    }

private:
    std::span<const Condition> conditions_;
    const Subject& subject_;
    Work* work_;
};

std::string unknownMode(const std::string& mode, const Providers& providers) {
    std::vector<std::string_view> known{"and", "or"};
    for (const auto& [name, strategy] : providers.strategies) known.push_back(name);
    std::string message = "matchMode '" + mode + "' is unknown";
    const std::string_view nearest = base::nearest(mode, known);
    if (!nearest.empty()) message.append(", did you mean '").append(nearest).append("'?");
    return message;
}

}  // namespace

bool Conditions::hold(const Subject& subject, Work* work) const noexcept {
    if (mode_ == Mode::Strategy) {
        return strategy_->holds(static_cast<std::uint32_t>(list_.size()), Results(list_, subject, work));
    }
    return hold(list_, mode_, subject, work);
}

struct EntryCompiler {
    const Providers& providers;

    // What rules and selectors have in common.
    base::Result<void, CompileError> compile(CompiledEntry& entry, const auto& spec) const {
        entry.sort = spec.sort;
        if (auto compiled = conditions(entry, spec.conditions); !compiled) return std::move(compiled).error();
        mode(entry, spec.matchMode);
        if (entry.conditions.mode() == Conditions::Mode::And) {
            entry.rank = static_cast<std::uint32_t>(spec.conditions.size());
        }
        if (!spec.enabled) entry.state = CompiledEntry::State::Disabled;
        else if (!entry.waiting.empty()) entry.state = CompiledEntry::State::Waiting;
        return {};
    }

    static void ignoreConditions(CompiledEntry& entry) {
        entry.conditions = {};
        if (!entry.waiting.empty()) entry.remarks.push_back(std::exchange(entry.waiting, {}));
        if (entry.state == CompiledEntry::State::Waiting) entry.state = CompiledEntry::State::Active;
    }

private:
    base::Result<void, CompileError> conditions(CompiledEntry& entry, const std::vector<ConditionSpec>& specs) const {
        entry.conditions.list_.reserve(specs.size());
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const std::string place = "condition " + std::to_string(i + 1) + ": ";
            auto compiled = Condition::compile(specs[i], providers);
            if (!compiled) {
                CompileError error{std::move(compiled).error(), i};
                error.message = place + error.message;
                return error;
            }
            if (!compiled->remark.empty()) entry.remarks.push_back(place + compiled->remark);
            if (!compiled->waiting.empty()) wait(entry, place + compiled->waiting);
            if (i < entry.anchors.size()) entry.anchors[i] = compiled->condition.anchor();
            entry.conditions.list_.push_back(std::move(compiled->condition));
        }
        return {};
    }

    void mode(CompiledEntry& entry, const std::string& name) const {
        using Mode = Conditions::Mode;
        if (name == "and" || name == "or") {
            entry.conditions.mode_ = name == "and" ? Mode::And : Mode::Or;
            return;
        }
        entry.conditions.mode_ = Mode::Strategy;
        const auto strategy = providers.strategies.find(name);
        if (strategy == providers.strategies.end()) wait(entry, unknownMode(name, providers));
        else entry.conditions.strategy_ = strategy->second;
    }

    static void wait(CompiledEntry& entry, const std::string& why) {
        if (!entry.waiting.empty()) entry.waiting += "; ";
        entry.waiting += why;
    }
};

base::Result<std::shared_ptr<const CompiledRule>, CompileError> compile(RuleSpec spec, const Providers& providers) {
    auto rule = std::make_shared<CompiledRule>();
    if (auto compiled = EntryCompiler{providers}.compile(*rule, spec); !compiled) return std::move(compiled).error();
    rule->rule = {std::move(spec.id), spec.handle.get(), spec.logged, std::move(spec.name)};
    rule->handle = std::move(spec.handle);
    return std::shared_ptr<const CompiledRule>(std::move(rule));
}

base::Result<std::shared_ptr<const CompiledSelector>, CompileError> compile(SelectorSpec spec,
                                                                            const Providers& providers) {
    if (spec.type != kFullFlow && spec.type != kCustomFlow) {
        return CompileError{{base::ErrorCode::InvalidConfig, "",
                             "type is " + std::to_string(spec.type) + ", expected 0 (full flow) or 1 (custom flow)"}};
    }
    auto selector = std::make_shared<CompiledSelector>();
    if (auto compiled = EntryCompiler{providers}.compile(*selector, spec); !compiled) {
        return std::move(compiled).error();
    }
    if (spec.type == kFullFlow) {
        selector->rules = CompiledEntry::Rules::LastUntested;
        EntryCompiler::ignoreConditions(*selector);
    } else if (spec.conditions.empty() && selector->state == CompiledEntry::State::Active) {
        selector->state = CompiledEntry::State::NoConditions;
    }
    if (!spec.continued) selector->rules = CompiledEntry::Rules::Unused;
    selector->selector = {std::move(spec.id), spec.handle.get(), spec.defaultRule.get(),
                          spec.logged,        spec.continued,    std::move(spec.name)};
    selector->handle = std::move(spec.handle);
    selector->defaultRule = std::move(spec.defaultRule);
    return std::shared_ptr<const CompiledSelector>(std::move(selector));
}

}  // namespace weir::match
