#include "gateway/data_handler.hpp"

#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/value.hpp"
#include "data/record_writer.hpp"
#include "upstream/control_error.hpp"

namespace weir::gateway {

namespace {

// A record of any kind, and its own list's order.
struct Record {
    weir_data_kind kind;
    const void* identity;  // the same for as long as the record is
    const std::string* id;
    std::function<base::Value()> value;
};

// The records of one plugin in the order they are told.
std::vector<Record> recordsOf(const std::string& key, const data::DataSet& data) {
    std::vector<Record> records;
    const auto add = [&records](weir_data_kind kind, const auto& shared, const std::string& id) {
        records.push_back({kind, shared.pointer().get(), &id, [&shared] { return data::toValue(*shared); }});
    };
    for (const auto& plugin : data.plugins)
        if (plugin->name == key) add(WEIR_DATA_PLUGIN, plugin, plugin->name);
    for (const auto& selector : data.selectorsOf(key)) add(WEIR_DATA_SELECTOR, selector, selector->id);
    for (const auto& rule : data.rulesOf(key)) add(WEIR_DATA_RULE, rule, rule->id);
    return records;
}

using ByKey = std::map<std::pair<weir_data_kind, std::string_view>, const Record*>;

ByKey byKey(const std::vector<Record>& records) {
    ByKey found;
    for (const Record& record : records) found.emplace(std::pair(record.kind, std::string_view(*record.id)), &record);
    return found;
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
    for (const Record& record : recordsOf(key_, data)) {
        const base::Value value = record.value();
        table_->upserted(handler_, record.kind, raw(value));
    }
}

void DataHandler::change(const data::DataSet& before, const data::DataSet& after) {
    const std::vector<Record> old = recordsOf(key_, before);
    const std::vector<Record> now = recordsOf(key_, after);
    const ByKey oldByKey = byKey(old);
    const ByKey nowByKey = byKey(now);
    for (auto record = old.rbegin(); record != old.rend(); ++record) {
        if (nowByKey.contains({record->kind, *record->id})) continue;
        const base::Value value = record->value();
        table_->removed(handler_, record->kind, raw(value));
    }
    for (const Record& record : now) {
        const auto was = oldByKey.find({record.kind, *record.id});
        if (was != oldByKey.end() && was->second->identity == record.identity) continue;
        const base::Value value = record.value();
        if (was != oldByKey.end() && base::toJson(was->second->value()) == base::toJson(value)) continue;
        table_->upserted(handler_, record.kind, raw(value));
    }
}

}  // namespace weir::gateway
