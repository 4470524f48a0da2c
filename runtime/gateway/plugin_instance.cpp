#include "gateway/plugin_instance.hpp"

#include "upstream/control_error.hpp"

namespace weir::gateway {

base::Result<std::shared_ptr<PluginInstance>> PluginInstance::create(std::shared_ptr<module::LoadedModule> module,
                                                                     const module::Provided& provided,
                                                                     const weir_host& host) {
    const weir_plugin* table = module->findPlugin(provided.key);
    if (!table) {
        return base::Error{base::ErrorCode::InvalidModule, module->file().string(),
                           "it no longer provides plugin '" + provided.key + "': the file was replaced meanwhile"};
    }
    std::shared_ptr<PluginInstance> instance(new PluginInstance(std::move(module), provided, table));
    weir_error error;
    if (table->create(&host, &instance->plugin_, &error) == WEIR_OK) return instance;
    instance->plugin_ = nullptr;
    return base::Error{base::ErrorCode::InvalidModule, instance->module_->file().string(),
                       "plugin '" + provided.key + "' could not be created: " +
                           (error.text.empty() ? "no reason given" : error.message())};
}

PluginInstance::~PluginInstance() {
    if (plugin_) table_->destroy(plugin_);
}

}  // namespace weir::gateway
