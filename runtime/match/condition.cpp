#include "match/condition.hpp"

#include <utility>
#include <vector>

#include "base/value.hpp"

namespace weir::match {
namespace {

base::Error empty(std::string_view what, std::string_view example) {
    return {base::ErrorCode::InvalidConfig, "", std::string(what) + " is empty, expected one like '" +
                                                    std::string(example) + "'"};
}

std::string unknown(std::string_view what, const std::string& name, std::vector<std::string_view> known,
                    const auto& provided) {
    for (const auto& [key, provider] : provided) known.push_back(key);
    std::string message = std::string(what) + " '" + name + "' is unknown";
    const std::string_view nearest = base::nearest(name, known);
    if (!nearest.empty()) message.append(", did you mean '").append(nearest).append("'?");
    return message;
}

}  // namespace

base::Result<Condition::Compiled> Condition::compile(const ConditionSpec& spec, const Providers& providers) {
    if (isBlank(spec.paramType)) return empty("paramType", "uri");
    if (isBlank(spec.operatorName)) return empty("operator", "=");
    Compiled compiled;
    Condition& condition = compiled.condition;
    const bool now = comparesNow(spec.operatorName, spec.paramName);
    auto source = ValueSource::bind(spec.paramType, spec.paramName, providers);
    if (!source && source.error().code == base::ErrorCode::NotFound) {
        compiled.waiting = unknown("paramType", spec.paramType, ValueSource::types(), providers.parameterTypes);
    } else if (!now) {
        if (!source) return std::move(source).error();
        condition.source_ = std::move(source).value();
    }
    ConditionSpec trimmed = spec;
    trimmed.paramValue = std::string(trim(spec.paramValue));
    auto bound = bindOperator(spec.operatorName, trimmed.paramValue, condition.source_);
    if (bound) {
        condition.test_ = std::move(bound->test);
        condition.shortcut_ = bound->shortcut;
        condition.expected_ = InlineText(bound->expected);
        condition.anchor_ = bound->anchor;
        condition.anchor_.exact = condition.source_.hasExactSlot();
        compiled.remark = std::move(bound->remark);
    } else if (bound.error().code != base::ErrorCode::NotFound) {
        return std::move(bound).error();
    } else if (const auto provided = providers.operators.find(spec.operatorName);
               provided == providers.operators.end()) {
        if (!compiled.waiting.empty()) compiled.waiting += "; ";
        compiled.waiting += unknown("operator", spec.operatorName, operatorNames(), providers.operators);
    } else if (compiled.waiting.empty()) {
        auto test = provided->second->bind(trimmed);
        if (!test) return std::move(test).error();
        condition.test_ = std::move(test).value();
    }
    if (condition.test_) condition.acceptsBlank_ = condition.test_->acceptsBlank();
    condition.spec_ = std::make_unique<const ConditionSpec>(spec);
    return compiled;
}

bool Condition::holdsForOther(const Subject& subject) const noexcept {
    DecodeBuffer buffer;
    return accepts(source_.read(subject, buffer));
}

std::string Condition::valueOf(const Subject& subject) const {
    DecodeBuffer buffer;
    return std::string(source_.read(subject, buffer));
}

}  // namespace weir::match
