#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "module/loaded_module.hpp"
#include "module/manifest.hpp"
#include "weir/abi.h"

namespace weir::gateway {

// A plugin that was created from its module's table. Control thread only, but for the table's loop functions, which the
// chain calls. Keeps its module loaded.
class PluginInstance {
public:
    static base::Result<std::shared_ptr<PluginInstance>> create(std::shared_ptr<module::LoadedModule> module,
                                                                const module::Provided& provided,
                                                                const weir_host& host);
    ~PluginInstance();
    PluginInstance(const PluginInstance&) = delete;
    PluginInstance& operator=(const PluginInstance&) = delete;

    const module::Provided& provided() const { return provided_; }
    const weir_plugin& table() const { return *table_; }
    void* plugin() const { return plugin_; }
    // Requests that it failed (any thread may count and read).
    std::atomic<std::uint64_t>& failures() const { return failures_; }

private:
    PluginInstance(std::shared_ptr<module::LoadedModule> module, module::Provided provided, const weir_plugin* table)
        : module_(std::move(module)), provided_(std::move(provided)), table_(table) {}

    std::shared_ptr<module::LoadedModule> module_;
    module::Provided provided_;
    const weir_plugin* table_;
    void* plugin_ = nullptr;
    mutable std::atomic<std::uint64_t> failures_{0};
};

}  // namespace weir::gateway
