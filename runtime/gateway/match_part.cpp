#include "gateway/match_part.hpp"

#include <utility>

#include "module/abi_text.hpp"
#include "upstream/control_error.hpp"

namespace weir::gateway {

namespace {

using module::str;
using module::view;
using Module = std::shared_ptr<module::LoadedModule>;

base::Error refusal(const std::string& what, const weir_error& error) {
    return {base::ErrorCode::InvalidConfig, "", what + ": " + (error.text.empty() ? "refused without a reason"
                                                                                   : error.message())};
}

class ModuleReader final : public match::ValueReader {
public:
    ModuleReader(Module module, const weir_parameter_data* table, void* state)
        : module_(std::move(module)), table_(table), state_(state) {}
    ~ModuleReader() override { table_->destroy(state_); }

    std::string_view read(const match::Subject& subject) const noexcept override {
        weir_exchange* exchange = subject.exchange();
        return exchange ? view(table_->read(state_, exchange)) : std::string_view();
    }

private:
    const Module module_;
    const weir_parameter_data* const table_;
    void* const state_;
};

class ModuleParameterType final : public match::ParameterType {
public:
    ModuleParameterType(Module module, const weir_parameter_data* table, const weir_host& host)
        : module_(std::move(module)), table_(table), host_(host) {}

    base::Result<std::unique_ptr<const match::ValueReader>> bind(const std::string& paramName) const override {
        weir_error error;
        void* state = nullptr;
        if (table_->create(&host_, str(paramName), &state, &error) != WEIR_OK)
            return refusal("paramName '" + paramName + "'", error);
        return std::unique_ptr<const match::ValueReader>(std::make_unique<ModuleReader>(module_, table_, state));
    }

private:
    const Module module_;
    const weir_parameter_data* const table_;
    const weir_host& host_;
};

class ModuleTest final : public match::ValueTest {
public:
    ModuleTest(Module module, const weir_predicate_judge* table, void* state)
        : module_(std::move(module)), table_(table), state_(state) {}
    ~ModuleTest() override { table_->destroy(state_); }

    bool passes(std::string_view value) const noexcept override { return table_->judge(state_, str(value)) != 0; }
    bool acceptsBlank() const noexcept override { return table_->blanks != 0; }

private:
    const Module module_;
    const weir_predicate_judge* const table_;
    void* const state_;
};

class ModuleOperator final : public match::Operator {
public:
    ModuleOperator(Module module, const weir_predicate_judge* table, const weir_host& host)
        : module_(std::move(module)), table_(table), host_(host) {}

    base::Result<std::unique_ptr<const match::ValueTest>> bind(const match::ConditionSpec& spec) const override {
        const weir_condition condition{sizeof condition, 0, str(spec.paramType), str(spec.paramName),
                                       str(spec.paramValue)};
        weir_error error;
        void* state = nullptr;
        if (table_->create(&host_, &condition, &state, &error) != WEIR_OK)
            return refusal(spec.operatorName + " '" + spec.paramValue + "'", error);
        return std::unique_ptr<const match::ValueTest>(std::make_unique<ModuleTest>(module_, table_, state));
    }

private:
    const Module module_;
    const weir_predicate_judge* const table_;
    const weir_host& host_;
};

class ModuleStrategy final : public match::Strategy {
public:
    ModuleStrategy(Module module, const weir_match_strategy* table) : module_(std::move(module)), table_(table) {}
    ~ModuleStrategy() override {
        if (created_) table_->destroy(state_);
    }

    base::Result<void> create(const weir_host& host) {
        weir_error error;
        created_ = table_->create(&host, &state_, &error) == WEIR_OK;
        if (!created_) return refusal("match strategy '" + std::string(view(table_->key)) + "'", error);
        return {};
    }

    bool holds(std::uint32_t count, const match::ConditionResults& conditions) const noexcept override {
        struct Asked : weir_conditions {
            const match::ConditionResults* results;
        };
        const auto holds = [](const weir_conditions* raw, std::uint32_t index) -> std::int32_t {
            return index < raw->count && static_cast<const Asked*>(raw)->results->holds(index);
        };
        Asked asked;
        asked.size = sizeof(weir_conditions);
        asked.count = count;
        asked.holds = holds;
        asked.results = &conditions;
        return table_->match(state_, &asked) != 0;
    }

private:
    const Module module_;
    const weir_match_strategy* const table_;
    void* state_ = nullptr;
    bool created_ = false;
};

}  // namespace

bool MatchPart::isInterface(std::string_view interface) {
    return interface == module::kParameterDataInterface || interface == module::kPredicateJudgeInterface ||
           interface == module::kMatchStrategyInterface;
}

base::Result<MatchPart> MatchPart::create(const Module& module, const module::Provided& provided,
                                          const weir_host& host) {
    MatchPart made{provided.interface, provided.key, nullptr, nullptr, nullptr};
    const auto missing = [&] {
        return base::Error{base::ErrorCode::InvalidModule, module->file().string(),
                           "it no longer provides " + provided.interface + " '" + provided.key +
                               "': the file was replaced meanwhile"};
    };
    if (provided.interface == module::kParameterDataInterface) {
        const weir_parameter_data* table = module->findParameterData(provided.key);
        if (!table) return missing();
        made.parameterType = std::make_shared<ModuleParameterType>(module, table, host);
    } else if (provided.interface == module::kPredicateJudgeInterface) {
        const weir_predicate_judge* table = module->findPredicateJudge(provided.key);
        if (!table) return missing();
        made.operation = std::make_shared<ModuleOperator>(module, table, host);
    } else {
        const weir_match_strategy* table = module->findMatchStrategy(provided.key);
        if (!table) return missing();
        auto strategy = std::make_shared<ModuleStrategy>(module, table);
        if (auto created = strategy->create(host); !created.ok()) return std::move(created).error();
        made.strategy = std::move(strategy);
    }
    return made;
}

void MatchPart::addTo(match::Providers& providers) const {
    if (parameterType) providers.parameterTypes[key] = parameterType;
    if (operation) providers.operators[key] = operation;
    if (strategy) providers.strategies[key] = strategy;
}

}  // namespace weir::gateway
