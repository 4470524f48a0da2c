#include "gateway/probe_data.hpp"

#include "base/value.hpp"
#include "data/record_writer.hpp"

namespace weir::gateway {

using base::Value;

std::string probeData(const std::set<std::string>& plugins, const data::DataSet& data) {
    Value list = Value::array();
    for (const std::string& key : plugins) {
        Value entry = Value::object();
        entry.set("key", Value::scalar(key, true));
        const data::PluginData* plugin = data.plugin(key);
        entry.set("plugin", plugin ? data::toValue(*plugin) : Value());
        Value selectors = Value::array();
        Value rules = Value::array();
        for (const data::SelectorData& selector : data.selectors)
            if (selector.pluginName == key) selectors.append(data::toValue(selector));
        for (const data::RuleData& rule : data.rules)
            if (rule.pluginName == key) rules.append(data::toValue(rule));
        entry.set("selectors", std::move(selectors));
        entry.set("rules", std::move(rules));
        list.append(std::move(entry));
    }
    return base::toJson(list);
}

}  // namespace weir::gateway
