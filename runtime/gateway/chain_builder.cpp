#include "gateway/chain_builder.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "upstream/control_error.hpp"

namespace weir::gateway {

namespace {

std::string placeOf(const data::Origin& origin, base::Mark mark) {
    if (mark.line == 0) mark = origin.mark;
    if (mark.line == 0) return origin.file;
    return origin.file + ":" + std::to_string(mark.line) + ":" + std::to_string(mark.column);
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

// A handle and the plugin that made it, given back together; shared by the builds that need it.
class PreparedHandle {
public:
    PreparedHandle(std::shared_ptr<PluginInstance> instance, weir_scope scope, void* handle)
        : instance_(std::move(instance)), scope_(scope), handle_(handle) {}
    ~PreparedHandle() {
        if (handle_) instance_->table().release(instance_->plugin(), scope_, handle_);
    }
    PreparedHandle(const PreparedHandle&) = delete;
    PreparedHandle& operator=(const PreparedHandle&) = delete;

    void* get() const { return handle_; }

private:
    std::shared_ptr<PluginInstance> instance_;
    weir_scope scope_;
    void* handle_;
};

}  // namespace

struct EntryOwner {
    struct Prepared {
        std::string text;  // of the value it was made from
        std::shared_ptr<PreparedHandle> handle;
    };

    std::shared_ptr<PluginInstance> instance;
    std::map<std::string, Prepared> handles;  // by scope and id
    std::shared_ptr<const match::PluginMatcher> matcher;
};

namespace {

class EntryBuilder {
public:
    // `previous`: the plugin's owner in the chain before, or null.
    EntryBuilder(std::shared_ptr<PluginInstance> instance, const EntryOwner* previous,
                 std::vector<std::string>& warnings)
        : owner_(std::make_shared<EntryOwner>()), previous_(previous), warnings_(warnings) {
        if (previous && previous->instance != instance) previous_ = nullptr;
        owner_->instance = std::move(instance);
    }

    std::shared_ptr<EntryOwner> owner() const { return owner_; }

    base::Result<chain::ChainEntry> build(const data::PluginData* plugin, const data::DataSet& data) {
        const module::Provided& provided = owner_->instance->provided();
        chain::ChainEntry entry;
        entry.table = &owner_->instance->table();
        entry.plugin = owner_->instance->plugin();
        entry.key = provided.key;
        entry.failures = &owner_->instance->failures();
        for (const std::string& type : provided.rpcTypes) entry.rpcTypes |= chain::rpcBit(type);
        entry.matches = provided.matching == module::Matching::Rule;
        entry.unmatchedError = provided.unmatched == module::Unmatched::Error;
        entry.noSelector = provided.key + ":Can not find selector, please check your configuration!";
        entry.noRule = provided.key + ":Rule not found!";
        const std::string name = "plugin '" + provided.key + "'";
        auto config = prepare(WEIR_SCOPE_CONFIG, "", plugin ? &plugin->config : nullptr, name + ", config",
                              plugin ? plugin->origin : data::Origin{});
        if (!config.ok()) return std::move(config).error();
        entry.config = *config;
        if (entry.matches) {
            if (auto compiled = compile(data, name); !compiled.ok()) return std::move(compiled).error();
            entry.matcher = owner_->matcher.get();
        }
        entry.owner = owner_;
        return entry;
    }

private:
    // A null pointer: nothing wanted. The error says where and what.
    base::Result<void*> prepare(weir_scope scope, const std::string& id, const base::Value* value,
                                const std::string& what, const data::Origin& origin) {
        if (value && value->isNull()) value = nullptr;
        const std::string name = std::to_string(scope) + "/" + id;
        std::string text = value ? base::toJson(*value) : std::string();
        if (previous_) {
            const auto before = previous_->handles.find(name);
            if (before != previous_->handles.end() && before->second.text == text) {
                owner_->handles.insert(*before);
                return before->second.handle->get();
            }
        }
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
        owner_->handles[name] = {std::move(text), std::make_shared<PreparedHandle>(instance, scope, handle)};
        for (const std::string& key : error.unknownKeys)
            warnings_.push_back(place(key) + ": " + what + ": the key '" + key + "' means nothing here");
        return handle;
    }

    base::Result<void> compile(const data::DataSet& data, const std::string& name) {
        const std::string& key = owner_->instance->provided().key;
        void* defaultRule = nullptr;
        std::vector<match::SelectorSpec> selectors;
        for (const data::SelectorData& selector : data.selectorsOf(key)) {
            const std::string what = name + ", selector '" + selector.name + "'";
            match::SelectorSpec spec;
            spec.id = selector.id;
            spec.name = selector.name;
            spec.enabled = selector.enabled;
            spec.sort = selector.sort;
            spec.matchMode = selector.matchMode;
            spec.type = selector.type;
            spec.continued = selector.continued;
            if (auto good = conditions(selector.conditions, what, selector.origin, spec.conditions); !good.ok())
                return good;
            auto handle = prepare(WEIR_SCOPE_SELECTOR, selector.id, &selector.handle, what + ", handle",
                                  selector.origin);
            if (!handle.ok()) return std::move(handle).error();
            spec.handle = *handle;
            if (!selector.continued) {
                if (!defaultRule) {
                    auto made = prepare(WEIR_SCOPE_RULE, "", nullptr, what + ", default rule", selector.origin);
                    if (!made.ok()) return std::move(made).error();
                    defaultRule = *made;
                }
                spec.defaultRule = defaultRule;
            }
            for (const data::RuleData& rule : data.rulesOf(key, selector.id)) {
                const std::string whatRule = what + ", rule '" + rule.name + "'";
                match::RuleSpec ruleSpec;
                ruleSpec.id = rule.id;
                ruleSpec.name = rule.name;
                ruleSpec.enabled = rule.enabled;
                ruleSpec.sort = rule.sort;
                ruleSpec.matchMode = rule.matchMode;
                if (auto good = conditions(rule.conditions, whatRule, rule.origin, ruleSpec.conditions); !good.ok())
                    return good;
                auto ruleHandle = prepare(WEIR_SCOPE_RULE, selector.id + "/" + rule.id, &rule.handle,
                                          whatRule + ", handle", rule.origin);
                if (!ruleHandle.ok()) return std::move(ruleHandle).error();
                ruleSpec.handle = *ruleHandle;
                spec.rules.push_back(std::move(ruleSpec));
            }
            selectors.push_back(std::move(spec));
        }
        auto matcher = match::PluginMatcher::compile(std::move(selectors));
        if (!matcher.ok()) return std::move(matcher).error();
        owner_->matcher = std::move(matcher).value();
        return {};
    }

    // Each is compiled here once for its own sake, so that a mistake has the condition's line.
    static base::Result<void> conditions(const std::vector<data::ConditionData>& from, const std::string& what,
                                         const data::Origin& origin, std::vector<match::ConditionSpec>& to) {
        for (const data::ConditionData& condition : from) {
            to.push_back({condition.paramType, condition.operatorName, condition.paramName, condition.paramValue});
            if (auto compiled = match::Condition::compile(to.back()); !compiled.ok()) {
                base::Error error = std::move(compiled).error();
                error.origin = placeOf(origin, condition.mark);
                error.message = what + ": " + error.message;
                return error;
            }
        }
        return {};
    }

    std::shared_ptr<EntryOwner> owner_;
    const EntryOwner* previous_;
    std::vector<std::string>& warnings_;
};

}  // namespace

base::Result<BuiltChain> buildChain(const std::vector<std::shared_ptr<PluginInstance>>& plugins,
                                    const data::DataSet& data, std::uint64_t version, const BuiltChain* previous) {
    BuiltChain built;
    struct Place {
        int sort;
        int order;
        chain::ChainEntry entry;
    };
    std::vector<Place> places;
    std::set<std::string, std::less<>> provided;
    for (const std::shared_ptr<PluginInstance>& instance : plugins) {
        const module::Provided& what = instance->provided();
        provided.insert(what.key);
        const data::PluginData* plugin = data.plugin(what.key);
        const bool wanted = plugin ? plugin->enabled : what.matching == module::Matching::None;
        // Data of a plugin that is off is checked all the same: switching it on must not fail.
        if (!plugin && !wanted) continue;
        const EntryOwner* before = nullptr;
        if (previous) {
            const auto found = previous->owners.find(what.key);
            if (found != previous->owners.end()) before = found->second.get();
        }
        EntryBuilder builder(instance, before, built.warnings);
        auto entry = builder.build(plugin, data);
        if (!entry.ok()) return std::move(entry).error();
        built.owners[what.key] = builder.owner();
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
    auto snapshot = std::make_shared<chain::Snapshot>();
    snapshot->version = version;
    for (Place& place : places) snapshot->chain.push_back(std::move(place.entry));
    built.snapshot = std::move(snapshot);
    return built;
}

}  // namespace weir::gateway
