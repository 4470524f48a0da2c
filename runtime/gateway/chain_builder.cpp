#include "gateway/chain_builder.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>
#include <tuple>

#include "config/messages.hpp"
#include "gateway/prepared_handle.hpp"
#include "gateway/record_pairs.hpp"
#include "upstream/control_error.hpp"

namespace weir::gateway {

namespace {

std::string placeOf(const data::Origin& origin, base::Mark mark) {
    if (mark.line == 0) mark = origin.mark;
    return config::place(origin.file, mark);
}

// The value at a path like "retry", "[2].weight" or "header.addHeaders" below `value`; as deep as it exists.
const base::Value* follow(const base::Value* value, std::string_view path) {
    while (!path.empty()) {
        const base::Value* next = nullptr;
        if (path.front() == '.') {
            path.remove_prefix(1);
            continue;
        }
        if (path.front() == '[') {
            std::size_t index = 0;
            const char* end = std::from_chars(path.data() + 1, path.data() + path.size(), index).ptr;
            path.remove_prefix(std::min(path.size(), static_cast<std::size_t>(end - path.data()) + 1));
            if (index < value->items().size()) next = &value->items()[index];
        } else {
            const std::size_t end = std::min(path.find_first_of(".["), path.size());
            next = value->find(path.substr(0, end));
            path.remove_prefix(end);
        }
        if (!next) return value;
        value = next;
    }
    return value;
}

}  // namespace

// What was made of one record each. Blocks are shared by the builds whose record is the same.
struct RuleBlock {
    std::shared_ptr<const data::RuleData> record;
    std::shared_ptr<PreparedHandle> handle;
    std::shared_ptr<const match::CompiledRule> compiled;
};
struct SelectorBlock {
    std::shared_ptr<const data::SelectorData> record;
    std::shared_ptr<PreparedHandle> handle;
    std::shared_ptr<const match::CompiledSelector> compiled;
    std::vector<std::shared_ptr<const RuleBlock>> rules;  // as in the data
    std::shared_ptr<const match::RuleSet> set;
};

struct EntryOwner {
    std::shared_ptr<PluginInstance> instance;
    std::string configText;
    std::shared_ptr<PreparedHandle> config;
    std::shared_ptr<PreparedHandle> defaultRule;  // null: no selector needed one
    std::vector<std::shared_ptr<const SelectorBlock>> selectors;  // as in the data
    std::shared_ptr<const match::PluginMatcher> matcher;
    manage::WaitingEntries::Reasons waitingSelectors;
    manage::WaitingEntries::Reasons waitingRules;
};

namespace {

// For what the blocks of an EntryOwner keep, which keeps the matcher too: counting a hundred thousand of them once more
// for each build is most of what a build costs.
template <class T>
std::shared_ptr<const T> notOwned(const std::shared_ptr<const T>& kept) {
    return {std::shared_ptr<const void>(), kept.get()};
}

class EntryBuilder {
public:
    // `previous`: the chain before, or null.
    EntryBuilder(std::shared_ptr<PluginInstance> instance, const ChainInput& input, const BuiltChain* previous,
                 std::vector<std::string>& warnings)
        : key_(instance->provided().key), owner_(std::make_shared<EntryOwner>()), input_(input), warnings_(warnings) {
        owner_->instance = std::move(instance);
        if (!previous || !previous->input.data) return;
        const auto found = previous->owners.find(key_);
        if (found == previous->owners.end() || found->second->instance != owner_->instance) return;
        before_ = found->second.get();
        beforeData_ = previous->input.data.get();
        const match::Providers& old = previous->input.providers;
        const match::Providers& now = input.providers;
        sameProviders_ = old.parameterTypes == now.parameterTypes && old.operators == now.operators &&
                         old.strategies == now.strategies && previous->input.order == input.order;
    }

    std::shared_ptr<EntryOwner> owner() const { return owner_; }

    base::Result<chain::ChainEntry> build(const data::PluginData* plugin) {
        const module::Provided& provided = owner_->instance->provided();
        chain::ChainEntry entry(owner_->instance->table(), owner_->instance->plugin());
        entry.key = provided.key;
        entry.failures = &owner_->instance->failures();
        if (input_.metrics) entry.counters = input_.metrics->countersOf(key_);
        for (const std::string& type : provided.rpcTypes) entry.rpcTypes |= chain::rpcBit(type);
        entry.matches = provided.matching == module::Matching::Rule;
        entry.unmatchedError = provided.unmatched == module::Unmatched::Error;
        entry.noSelector = provided.key + ":Can not find selector, please check your configuration!";
        entry.noRule = provided.key + ":Rule not found!";
        if (auto config = prepareConfig(plugin); !config.ok()) return std::move(config).error();
        entry.config = owner_->config->get();
        if (entry.matches) {
            if (auto compiled = compileAll(); !compiled.ok()) return std::move(compiled).error();
            entry.matcher = owner_->matcher.get();
        }
        entry.owner = owner_;
        return entry;
    }

private:
    using Handle = base::Result<std::shared_ptr<PreparedHandle>>;

    // A null pointer: the default is wanted. The error says where and what.
    Handle prepare(weir_scope scope, const base::Value* value, const std::string& what, const data::Origin& origin) {
        if (value && value->isNull()) value = nullptr;
        const std::shared_ptr<PluginInstance>& instance = owner_->instance;
        weir_error error;
        void* handle = nullptr;
        const weir_status status = instance->table().prepare(
            instance->plugin(), scope, reinterpret_cast<const weir_value*>(value), &handle, &error);
        const auto place = [&](std::string_view path) {
            return placeOf(origin, value ? follow(value, path)->mark() : base::Mark{});
        };
        if (status != WEIR_OK) {
            return base::Error{base::ErrorCode::InvalidConfig, place(error.path),
                               what + ": " + (error.text.empty() ? "refused without a reason" : error.message())};
        }
        for (const std::string& key : error.unknownKeys)
            warnings_.push_back(place(key) + ": " + what + ": the key '" + key + "' means nothing here");
        return std::make_shared<PreparedHandle>(instance, scope, handle);
    }

    base::Result<void> prepareConfig(const data::PluginData* plugin) {
        owner_->configText = plugin ? base::toJson(plugin->config) : std::string();
        if (before_ && before_->configText == owner_->configText) {
            owner_->config = before_->config;
            return {};
        }
        auto config = prepare(WEIR_SCOPE_CONFIG, plugin ? &plugin->config : nullptr, "plugin '" + key_ + "', config",
                              plugin ? plugin->origin : data::Origin{});
        if (!config.ok()) return std::move(config).error();
        owner_->config = std::move(config).value();
        return {};
    }

    // The handle of a record: the one that was made of the same text before, if there is one.
    template <class Record, class Block>
    Handle handleFor(weir_scope scope, const Record& record, const Pair<Block>& pair, const std::string& what) {
        if (pair.before && base::toJson((*pair.before)->record->handle) == base::toJson(record.handle))
            return (*pair.before)->handle;
        return prepare(scope, &record.handle, what + ", handle", record.origin);
    }

    base::Result<void> compileAll() {
        const std::span<const data::Shared<data::SelectorData>> now = input_.data->selectorsOf(key_);
        std::span<const data::Shared<data::SelectorData>> before;
        if (before_) {
            before = beforeData_->selectorsOf(key_);
            owner_->defaultRule = before_->defaultRule;
            if (sameProviders_) noteChanges(before, now);
        }
        static const std::vector<std::shared_ptr<const SelectorBlock>> kNone;
        const auto pairs = pairUp(before, before_ ? before_->selectors : kNone, now);
        if (sameProviders_ && nothingChanged_) {
            owner_->selectors = before_->selectors;
            owner_->matcher = before_->matcher;
            return {};
        }
        std::vector<match::PluginMatcher::Entry> entries;
        entries.reserve(now.size());
        owner_->selectors.reserve(now.size());
        for (std::size_t i = 0; i < now.size(); ++i) {
            auto block = selectorBlock(now[i], pairs[i]);
            if (!block.ok()) return std::move(block).error();
            entries.push_back({notOwned((*block)->compiled), notOwned((*block)->set)});
            owner_->selectors.push_back(std::move(block).value());
        }
        owner_->matcher = match::PluginMatcher::build(std::move(entries), input_.order);
        return {};
    }

    // Which selectors have other rules than before; what no longer waits.
    void noteChanges(std::span<const data::Shared<data::SelectorData>> before,
                     std::span<const data::Shared<data::SelectorData>> now) {
        owner_->waitingSelectors = before_->waitingSelectors;
        owner_->waitingRules = before_->waitingRules;
        nothingChanged_ = true;
        const auto rulesBefore = beforeData_->rulesOf(key_);
        const auto rulesNow = input_.data->rulesOf(key_);
        const auto ruleChanged = [&](const data::RuleData& rule) {
            nothingChanged_ = false;
            changedRules_.insert(rule.selectorId);
            owner_->waitingRules.erase({key_, rule.id});
        };
        compareLists(
            rulesBefore, rulesNow, [](std::size_t, std::size_t) {},
            [&](std::size_t i) { ruleChanged(*rulesNow[i]); }, [&](std::size_t j) { ruleChanged(*rulesBefore[j]); });
        compareLists(
            before, now, [](std::size_t, std::size_t) {}, [&](std::size_t) { nothingChanged_ = false; },
            [&](std::size_t j) {
                nothingChanged_ = false;
                owner_->waitingSelectors.erase({key_, before[j]->id});
            });
    }

    base::Result<std::shared_ptr<const SelectorBlock>> selectorBlock(const data::Shared<data::SelectorData>& record,
                                                                     const Pair<SelectorBlock>& pair) {
        const data::SelectorData& selector = record;
        const bool sameRules = pair.before && sameProviders_ && !changedRules_.contains(selector.id);
        if (pair.same && sameRules) return *pair.before;
        auto block = std::make_shared<SelectorBlock>();
        block->record = record.pointer();
        const std::string what = "plugin '" + key_ + "', selector '" + selector.name + "'";
        if (pair.same && sameProviders_) {
            block->handle = (*pair.before)->handle;
            block->compiled = (*pair.before)->compiled;
        } else if (auto done = compileSelector(*block, pair, what); !done.ok()) {
            return std::move(done).error();
        }
        if (sameRules) {
            block->rules = (*pair.before)->rules;
            block->set = (*pair.before)->set;
        } else if (auto done = compileRules(*block, pair, what); !done.ok()) {
            return std::move(done).error();
        }
        return std::shared_ptr<const SelectorBlock>(std::move(block));
    }

    base::Result<void> compileSelector(SelectorBlock& block, const Pair<SelectorBlock>& pair, const std::string& what) {
        const data::SelectorData& selector = *block.record;
        const upstream::OwnedSets owned(input_.sets, key_, selector.id);
        auto handle = handleFor(WEIR_SCOPE_SELECTOR, selector, pair, what);
        if (!handle.ok()) return std::move(handle).error();
        block.handle = std::move(handle).value();
        match::SelectorSpec spec;
        fill(spec, selector, block.handle);
        spec.logged = selector.logged;
        spec.type = selector.type;
        spec.continued = selector.continued;
        if (!selector.continued) {
            if (!owner_->defaultRule) {
                auto made = prepare(WEIR_SCOPE_RULE, nullptr, what + ", default rule", selector.origin);
                if (!made.ok()) return std::move(made).error();
                owner_->defaultRule = std::move(made).value();
            }
            spec.defaultRule = handleOf(owner_->defaultRule);
        }
        auto compiled = match::compile(std::move(spec), input_.providers);
        if (!compiled.ok()) return refused(compiled.error(), selector, what);
        block.compiled = std::move(compiled).value();
        note(*block.compiled, selector, what, owner_->waitingSelectors);
        return {};
    }

    base::Result<void> compileRules(SelectorBlock& block, const Pair<SelectorBlock>& pair, const std::string& what) {
        const std::string& id = block.record->id;
        const std::span<const data::Shared<data::RuleData>> now = input_.data->rulesOf(key_, id);
        std::span<const data::Shared<data::RuleData>> before;
        if (pair.before) before = beforeData_->rulesOf(key_, id);
        static const std::vector<std::shared_ptr<const RuleBlock>> kNone;
        const auto pairs = pairUp(before, pair.before ? (*pair.before)->rules : kNone, now);
        std::vector<std::shared_ptr<const match::CompiledRule>> compiled;
        compiled.reserve(now.size());
        block.rules.reserve(now.size());
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (pairs[i].same && sameProviders_) {
                block.rules.push_back(*pairs[i].before);
            } else {
                auto made = compileRule(now[i], pairs[i], what + ", rule '" + now[i]->name + "'");
                if (!made.ok()) return std::move(made).error();
                block.rules.push_back(std::move(made).value());
            }
            compiled.push_back(notOwned(block.rules.back()->compiled));
        }
        block.set = match::RuleSet::build(std::move(compiled), input_.order);
        return {};
    }

    base::Result<std::shared_ptr<const RuleBlock>> compileRule(const data::Shared<data::RuleData>& record,
                                                               const Pair<RuleBlock>& pair, const std::string& what) {
        auto block = std::make_shared<RuleBlock>();
        block->record = record.pointer();
        auto handle = handleFor(WEIR_SCOPE_RULE, *record, pair, what);
        if (!handle.ok()) return std::move(handle).error();
        block->handle = std::move(handle).value();
        match::RuleSpec spec;
        fill(spec, *record, block->handle);
        spec.logged = record->loged;
        auto compiled = match::compile(std::move(spec), input_.providers);
        if (!compiled.ok()) return refused(compiled.error(), *record, what);
        block->compiled = std::move(compiled).value();
        note(*block->compiled, *record, what, owner_->waitingRules);
        return std::shared_ptr<const RuleBlock>(std::move(block));
    }

    template <class Spec, class Record>
    static void fill(Spec& spec, const Record& record, const std::shared_ptr<PreparedHandle>& handle) {
        spec.id = record.id;
        spec.name = record.name;
        spec.enabled = record.enabled;
        spec.sort = record.sort;
        spec.matchMode = record.matchMode;
        spec.handle = handleOf(handle);
        for (const data::ConditionData& condition : record.conditions) {
            spec.conditions.push_back(
                {condition.paramType, condition.operatorName, condition.paramName, condition.paramValue});
        }
    }

    template <class Record>
    static base::Error refused(const match::CompileError& error, const Record& record, const std::string& what) {
        const bool condition = error.condition < record.conditions.size();
        return {error.code, placeOf(record.origin, condition ? record.conditions[error.condition].mark : base::Mark{}),
                what + ": " + error.message};
    }

    template <class Record>
    void note(const match::CompiledEntry& compiled, const Record& record, const std::string& what,
              manage::WaitingEntries::Reasons& waiting) {
        const std::string place = placeOf(record.origin, {}) + ": " + what + ": ";
        for (const std::string& remark : compiled.remarks) warnings_.push_back(place + remark);
        if (compiled.waiting.empty()) return;
        warnings_.push_back(place + compiled.waiting + "; it waits and matches nothing until then");
        waiting[{key_, record.id}] = compiled.waiting;
    }

    const std::string key_;
    std::shared_ptr<EntryOwner> owner_;
    const ChainInput& input_;
    std::vector<std::string>& warnings_;
    const EntryOwner* before_ = nullptr;         // of the plugin in the chain before; null: nothing is to be shared
    const data::DataSet* beforeData_ = nullptr;  // what it was built of
    bool sameProviders_ = false;
    bool nothingChanged_ = false;         // in selectors and rules
    std::set<std::string> changedRules_;  // selectors by id
};

base::Result<std::shared_ptr<const chain::MetadataIndex>> metadataOf(const ChainInput& input,
                                                                     const BuiltChain* previous) {
    const auto same = [](const auto& a, const auto& b) { return a.pointer() == b.pointer(); };
    if (previous && previous->snapshot && previous->input.order == input.order &&
        std::ranges::equal(previous->input.data->metadata, input.data->metadata, same)) {
        return previous->snapshot->metadata;
    }
    return chain::MetadataIndex::build(*input.data, input.order);
}

}  // namespace

base::Result<BuiltChain> buildChain(ChainInput input, std::uint64_t version, const BuiltChain* previous) {
    BuiltChain built;
    const data::DataSet& data = *input.data;
    struct Place {
        int sort;
        int order;
        chain::ChainEntry entry;
    };
    std::vector<Place> places;
    std::set<std::string, std::less<>> provided;
    auto waiting = std::make_shared<manage::WaitingEntries>();
    for (const std::shared_ptr<PluginInstance>& instance : input.plugins) {
        const module::Provided& what = instance->provided();
        provided.insert(what.key);
        const data::PluginData* plugin = data.plugin(what.key);
        const bool wanted = plugin ? plugin->enabled : what.matching == module::Matching::None;
        // Data of a plugin that is off is checked all the same: switching it on must not fail.
        if (!plugin && !wanted) continue;
        EntryBuilder builder(instance, input, previous, built.warnings);
        auto entry = builder.build(plugin);
        if (!entry.ok()) return std::move(entry).error();
        const std::shared_ptr<EntryOwner> owner = builder.owner();
        waiting->selectors.insert(owner->waitingSelectors.begin(), owner->waitingSelectors.end());
        waiting->rules.insert(owner->waitingRules.begin(), owner->waitingRules.end());
        built.owners[what.key] = owner;
        const int sort = plugin && plugin->sort ? *plugin->sort : what.order;
        if (wanted) places.push_back({sort, what.order, std::move(*entry)});
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return std::tie(a.sort, a.order, a.entry.key) < std::tie(b.sort, b.order, b.entry.key);
    });
    for (const data::PluginData& plugin : data.plugins) {
        if (!provided.contains(plugin.name))
            built.warnings.push_back(placeOf(plugin.origin, {}) + ": plugin '" + plugin.name +
                                     "' is provided by no module; its data waits");
    }
    auto metadata = metadataOf(input, previous);
    if (!metadata.ok()) return std::move(metadata).error();
    auto snapshot = std::make_shared<chain::Snapshot>();
    snapshot->version = version;
    snapshot->metadata = std::move(metadata).value();
    for (Place& place : places) snapshot->chain.push_back(std::move(place.entry));
    built.snapshot = std::move(snapshot);
    built.waiting = std::move(waiting);
    built.input = std::move(input);
    return built;
}

}  // namespace weir::gateway
