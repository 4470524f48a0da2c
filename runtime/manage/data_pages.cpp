#include "manage/data_pages.hpp"

#include <map>

#include "base/value.hpp"
#include "data/record_writer.hpp"
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
    for (const ProvidedRow& row : source.provided()) {
        const bool runs = row.state == "selected" || row.state == "active";  // of core modules, of extensions
        if (row.interface != module::kPluginInterface || !runs || map.find(row.key)) continue;
        map.set(row.key, Value::scalar(row.order, false));
    }
    return map;
}

// One value for each record, by its name.
template <class Record>
Value byName(const std::vector<Record>& records, std::string Record::*name) {
    Value map = Value::object();
    for (const Record& record : records) map.set(record.*name, data::toValue(record));
    return map;
}

// A list for each name. The records of one name need not stand together: a rule's selector id is its plugin's own.
template <class Record>
Value listsByName(const std::vector<Record>& records, std::string Record::*name) {
    std::map<std::string, Value> lists;
    for (const Record& record : records) {
        lists.try_emplace(record.*name, Value::array()).first->second.append(data::toValue(record));
    }
    Value map = Value::object();
    for (auto& [key, list] : lists) map.set(key, std::move(list));
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
        Value (*take)(const DataSet&);
    };
    constexpr Dump dumps[] = {
        {"/actuator/pluginData", [](const DataSet& set) { return byName(set.plugins, &data::PluginData::name); }},
        {"/actuator/selectorData",
         [](const DataSet& set) { return listsByName(set.selectors, &data::SelectorData::pluginName); }},
        {"/actuator/ruleData", [](const DataSet& set) { return listsByName(set.rules, &data::RuleData::selectorId); }},
        {"/actuator/metadata", [](const DataSet& set) { return byName(set.metadata, &data::MetaData::id); }},
    };
    for (const Dump& dump : dumps) {
        if (path != dump.path) continue;
        Value map;
        control.read([&](const data::DataStore& store) { map = dump.take(store.data()); });
        return base::toJson(inList(std::move(map)));
    }
    return std::nullopt;
}

}  // namespace weir::manage
