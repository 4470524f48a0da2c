#include "manage/data_pages.hpp"

#include <map>
#include <set>

#include "base/value.hpp"
#include "data/record_writer.hpp"
#include "manage/module_pages.hpp"
#include "module/manifest.hpp"

namespace weir::manage {

namespace {

using base::Value;
using data::DataSet;

Value inList(Value map) {
    Value list = Value::array();
    list.append(std::move(map));
    return list;
}

Value orders(const StatusSource& source) {
    Value map = Value::object();
    for (const ModuleStatus& module : source.modules()) {
        for (const auto& [provided, state] : module.keys) {
            if (provided.interface != module::kPluginInterface || state != ModuleState::Active) continue;
            map.set(provided.key, Value::scalar(std::to_string(provided.order), false));
        }
    }
    return map;
}

// What no request meets, and why: no module takes the plugin's data, or provides what a condition names.
struct Waiting {
    std::set<std::string> plugins;
    std::shared_ptr<const WaitingEntries> entries;
};

Value plugins(const DataSet& set, const Waiting& waiting) {
    Value map = Value::object();
    for (const data::PluginData& plugin : set.plugins) {
        Value value = data::toValue(plugin);
        if (waiting.plugins.contains(plugin.name)) value.set("waiting", Value::scalar("true", false));
        map.set(plugin.name, std::move(value));
    }
    return map;
}

// A list for each name. The records of one name need not stand together: a rule's selector id is its plugin's own.
template <class Record>
Value listsByName(const data::SharedList<Record>& records, std::string Record::*name, const Waiting& waiting,
                  const WaitingEntries::Reasons& reasons) {
    std::map<std::string, Value> lists;
    for (const Record& record : records) {
        Value value = data::toValue(record);
        const auto reason = reasons.find({record.pluginName, record.id});
        if (reason != reasons.end()) value.set("waiting", Value::scalar(reason->second, true));
        else if (waiting.plugins.contains(record.pluginName)) value.set("waiting", Value::scalar("true", false));
        lists.try_emplace(record.*name, Value::array()).first->second.append(std::move(value));
    }
    Value map = Value::object();
    for (auto& [key, list] : lists) map.set(key, std::move(list));
    return map;
}

Value metadata(const DataSet& set) {
    Value map = Value::object();
    for (const data::MetaData& entry : set.metadata) map.set(entry.id, data::toValue(entry));
    return map;
}

// What a path alone finds; the first of a path counts.
Value metadataByPath(const DataSet& set) {
    Value map = Value::object();
    for (const data::MetaData& entry : set.metadata) {
        const bool plain = entry.path.find_first_of("*?{") == std::string::npos;
        if (plain && !map.find(entry.path)) map.set(entry.path, data::toValue(entry));
    }
    return map;
}

Value info() {
    Value map = Value::object();
    map.set("app", Value::object()).set("name", Value::scalar("weir", true));
    return map;
}

}  // namespace

std::optional<std::string> dataPage(std::string_view path, const StatusSource& source, const DataControl& control) {
    if (path == "/actuator/info") return base::toJson(info());
    if (path == "/actuator/plugins") return base::toJson(inList(orders(source)));
    struct Dump {
        std::string_view path;
        Value (*take)(const DataSet&, const Waiting&);
    };
    constexpr Dump dumps[] = {
        {"/actuator/pluginData", plugins},
        {"/actuator/selectorData",
         [](const DataSet& set, const Waiting& waiting) {
             return listsByName(set.selectors, &data::SelectorData::pluginName, waiting, waiting.entries->selectors);
         }},
        {"/actuator/ruleData",
         [](const DataSet& set, const Waiting& waiting) {
             return listsByName(set.rules, &data::RuleData::selectorId, waiting, waiting.entries->rules);
         }},
        {"/actuator/metadata", [](const DataSet& set, const Waiting&) { return metadata(set); }},
        {"/actuator/metadataCache", [](const DataSet& set, const Waiting&) { return metadataByPath(set); }},
        // Matchers are compiled with the data: no result is kept for a path.
        {"/actuator/selectorMatchCache", [](const DataSet&, const Waiting&) { return Value::object(); }},
        {"/actuator/ruleMatchCache", [](const DataSet&, const Waiting&) { return Value::object(); }},
    };
    for (const Dump& dump : dumps) {
        if (path != dump.path) continue;
        Value map;
        const std::vector<ModuleStatus> modules = source.modules();
        control.read([&](const data::DataStore& store) {
            map = dump.take(store.data(), {waitingPlugins(store.data(), modules), control.waiting()});
        });
        return base::toJson(inList(std::move(map)));
    }
    return std::nullopt;
}

}  // namespace weir::manage
