#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gateway/data_handler.hpp"
#include "gateway/plugin_instance.hpp"
#include "manage/status_source.hpp"
#include "module/ext_directory.hpp"
#include "module/loaded_module.hpp"
#include "module/staging_directory.hpp"
#include "weir/abi.h"

namespace weir::gateway {

// The extension modules: one generation of each file that serves, the newcomers of a scan, and why others were refused.
// Control thread.
class ExtModules {
public:
    // Whether the chain can be built with these plugins in place of the generation of `replaced`; the error is why not.
    using Try = std::function<base::Result<void>(const std::vector<std::shared_ptr<PluginInstance>>& plugins)>;

    ExtModules(std::filesystem::path directory, std::chrono::milliseconds settle, module::StagingDirectory& staging,
               const weir_host& host);

    // What core modules serve; no extension may.
    void reserve(const std::string& interface, const std::string& key, const std::string& module);

    // Looks at the directory and takes what is new, other or gone. A module that is refused leaves everything as it
    // was. `accept` is asked with all plugins of the extensions as they would be.
    struct Scanned {
        bool changed = false;    // plugins() is another list now
        bool unsettled = false;  // something is still being written, or the directory is not there: scan again soon
    };
    Scanned scan(const Try& accept);

    // Of the generations that serve now.
    const std::vector<std::shared_ptr<PluginInstance>>& plugins() const { return plugins_; }
    std::vector<std::shared_ptr<DataHandler>> handlers() const;

    // A generation that was replaced or removed. It drains until nothing refers to the module: its requests are over.
    struct Draining {
        manage::ModuleStatus status;
        std::weak_ptr<const module::LoadedModule> module;  // any thread may ask whether it expired, none may lock it
    };
    // What serves and what is refused; what drains.
    std::vector<manage::ModuleStatus> modules() const;
    const std::vector<Draining>& draining();
    const std::filesystem::path& directory() const { return directory_.path(); }

private:
    struct Generation {
        manage::ModuleStatus status;
        std::vector<std::shared_ptr<PluginInstance>> plugins;
        std::vector<std::shared_ptr<DataHandler>> handlers;
        std::weak_ptr<const module::LoadedModule> module;
    };

    base::Result<Generation> load(const module::ExtDirectory::Changed& found);
    base::Result<void> mayServe(const std::filesystem::path& file, const module::Manifest& manifest) const;
    static std::vector<std::shared_ptr<PluginInstance>> pluginsOf(
        const std::map<std::filesystem::path, Generation>& generations);
    void take(const module::ExtDirectory::Changed& found, const Try& accept, Scanned& scanned);
    // `status`: what is known of the file.
    void refuse(const std::filesystem::path& file, manage::ModuleStatus status, const base::Error& error);
    void drain(const Generation& generation);

    module::ExtDirectory directory_;
    module::StagingDirectory& staging_;
    const weir_host& host_;
    std::map<std::pair<std::string, std::string>, std::string> reserved_;  // (interface, key) -> core module
    std::set<std::string> coreIds_;
    std::map<std::filesystem::path, Generation> serving_;
    std::map<std::filesystem::path, manage::ModuleStatus> refused_;
    std::vector<Draining> draining_;
    std::map<std::string, std::uint64_t> generations_;  // module id -> the last one's number
    std::string alarm_;  // said once while it lasts
    std::vector<std::shared_ptr<PluginInstance>> plugins_;
};

}  // namespace weir::gateway
