#include "gateway/data_handler.hpp"

#include <map>
#include <vector>

#include "base/value.hpp"
#include "data/record_writer.hpp"
#include "upstream/control_error.hpp"

namespace weir::gateway {

namespace {

struct Record {
    weir_data_kind kind;
    base::Value value;
    std::string text;
};

// The records of one plugin by what they are known by, in the order they are told.
using Records = std::vector<std::pair<std::string, Record>>;

Records recordsOf(const std::string& key, const data::DataSet& data) {
    Records records;
    const auto add = [&records](weir_data_kind kind, const std::string& id, base::Value value) {
        std::string text = base::toJson(value);
        records.push_back({std::to_string(kind) + "/" + id, {kind, std::move(value), std::move(text)}});
    };
    if (const data::PluginData* plugin = data.plugin(key)) add(WEIR_DATA_PLUGIN, plugin->name, data::toValue(*plugin));
    for (const data::SelectorData& selector : data.selectorsOf(key))
        add(WEIR_DATA_SELECTOR, selector.id, data::toValue(selector));
    for (const data::RuleData& rule : data.rules)
        if (rule.pluginName == key) add(WEIR_DATA_RULE, rule.id, data::toValue(rule));
    return records;
}

const weir_value* raw(const base::Value& value) { return reinterpret_cast<const weir_value*>(&value); }

}  // namespace

base::Result<std::shared_ptr<DataHandler>> DataHandler::create(std::shared_ptr<module::LoadedModule> module,
                                                               const std::string& key, const weir_host& host) {
    const weir_plugin_data_handler* table = module->findDataHandler(key);
    if (!table) {
        return base::Error{base::ErrorCode::InvalidModule, module->file().string(),
                           "it no longer provides data handler '" + key + "': the file was replaced meanwhile"};
    }
    std::shared_ptr<DataHandler> made(new DataHandler(std::move(module), key, table));
    weir_error error;
    if (table->create(&host, &made->handler_, &error) == WEIR_OK) return made;
    made->handler_ = nullptr;
    return base::Error{base::ErrorCode::InvalidModule, made->module_->file().string(),
                       "data handler '" + key + "' could not be created: " +
                           (error.text.empty() ? "no reason given" : error.message())};
}

DataHandler::~DataHandler() {
    if (handler_) table_->destroy(handler_);
}

void DataHandler::replay(const data::DataSet& data) {
    for (const auto& [name, record] : recordsOf(key_, data)) table_->upserted(handler_, record.kind, raw(record.value));
}

void DataHandler::change(const data::DataSet& before, const data::DataSet& after) {
    const Records old = recordsOf(key_, before);
    const Records now = recordsOf(key_, after);
    const std::map<std::string, Record> oldByName(old.begin(), old.end());
    const std::map<std::string, Record> nowByName(now.begin(), now.end());
    for (auto record = old.rbegin(); record != old.rend(); ++record)
        if (!nowByName.contains(record->first))
            table_->removed(handler_, record->second.kind, raw(record->second.value));
    for (const auto& [name, record] : now) {
        const auto was = oldByName.find(name);
        if (was == oldByName.end() || was->second.text != record.text)
            table_->upserted(handler_, record.kind, raw(record.value));
    }
}

}  // namespace weir::gateway
