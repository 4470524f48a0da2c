#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "module/manifest.hpp"
#include "module/module_file.hpp"
#include "module/staging_directory.hpp"
#include "weir/abi.h"

namespace weir::module {

// One generation of a module: its staged file, its library handle and its tables. Everything handed out here dies with
// it: destroy all plugins and states made from its tables first. Loading and destroying run code of the module; both
// belong on a thread that may block. `staging` must outlive it.
class LoadedModule {
public:
    // Copies `file`, checks the copy's note and manifest, loads it (RTLD_NOW | RTLD_LOCAL) and compares its tables with
    // its manifest: ABI version, table sizes, required functions, every key on both sides. The error's origin is
    // `file`.
    static base::Result<std::unique_ptr<LoadedModule>> load(const std::filesystem::path& file,
                                                            StagingDirectory& staging);
    // The same with the bytes and the manifest that were read from `file` before.
    static base::Result<std::unique_ptr<LoadedModule>> load(const std::filesystem::path& file, const ModuleFile& read,
                                                            StagingDirectory& staging);
    // Unloads, unless the manifest says resident; removes the staged file.
    ~LoadedModule();
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    const Manifest& manifest() const { return manifest_; }
    const std::filesystem::path& file() const { return file_; }            // as given to load()
    const std::filesystem::path& stagedFile() const { return stagedFile_; }  // what is mapped

    // Tables of "weir.plugin/1", "weir.load_balancer/1" and "weir.plugin_data_handler/1", as many as the manifest says;
    // none is null.
    std::span<const weir_plugin* const> plugins() const { return plugins_; }
    std::span<const weir_load_balancer* const> loadBalancers() const { return loadBalancers_; }
    std::span<const weir_plugin_data_handler* const> dataHandlers() const { return dataHandlers_; }
    const weir_plugin* findPlugin(std::string_view key) const;              // null: not provided
    const weir_load_balancer* findLoadBalancer(std::string_view key) const;
    const weir_plugin_data_handler* findDataHandler(std::string_view key) const;

private:
    struct Library;  // Boost.DLL stays in the source file

    LoadedModule(std::filesystem::path file, Manifest manifest);
    base::Result<void> open();
    base::Result<void> readTables();

    std::filesystem::path file_;
    std::filesystem::path stagedFile_;
    Manifest manifest_;
    std::unique_ptr<Library> library_;
    std::span<const weir_plugin* const> plugins_;
    std::span<const weir_load_balancer* const> loadBalancers_;
    std::span<const weir_plugin_data_handler* const> dataHandlers_;
};

}  // namespace weir::module
