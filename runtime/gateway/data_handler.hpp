#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "data/data_set.hpp"
#include "module/loaded_module.hpp"
#include "weir/abi.h"

namespace weir::gateway {

// A PluginDataHandler that was created from its module's table; hears of the data of one plugin. Control thread. Keeps
// its module loaded.
class DataHandler {
public:
    static base::Result<std::shared_ptr<DataHandler>> create(std::shared_ptr<module::LoadedModule> module,
                                                             const std::string& key, const weir_host& host);
    ~DataHandler();
    DataHandler(const DataHandler&) = delete;
    DataHandler& operator=(const DataHandler&) = delete;

    // Everything in force, to a new handler: the plugin, its selectors, their rules.
    void replay(const data::DataSet& data);
    // What is new, other or gone: first what goes (rules before selectors before the plugin), then what comes.
    void change(const data::DataSet& before, const data::DataSet& after);

private:
    DataHandler(std::shared_ptr<module::LoadedModule> module, std::string key, const weir_plugin_data_handler* table)
        : module_(std::move(module)), key_(std::move(key)), table_(table) {}

    std::shared_ptr<module::LoadedModule> module_;
    std::string key_;
    const weir_plugin_data_handler* table_;
    void* handler_ = nullptr;
};

}  // namespace weir::gateway
