#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "module/manifest.hpp"
#include "module/module_check.hpp"
#include "module/module_file.hpp"
#include "module/refusal.hpp"
#include "module/staging_directory.hpp"
#include "weir/abi.h"

namespace weir::module {

// What dlerror() said of a staged file, in our words.
Refusal whyNotLoaded(std::string_view reason, const std::string& staged);

// Whether a file of that path is mapped into this process, removed or not.
bool isMapped(const std::filesystem::path& file);

// One generation of a module: its staged file, its library handle and its tables. Everything handed out here dies with
// it: destroy all plugins and states made from its tables first. Loading and destroying run code of the module; both
// belong on a thread that may block. `staging` must outlive it.
class LoadedModule {
public:
    // Copies `file`, checks the copy (readModuleFile, checkModule), loads it (RTLD_NOW | RTLD_LOCAL) and compares its
    // tables with its manifest: ABI version, table sizes, required functions, every key on both sides.
    static base::Result<std::unique_ptr<LoadedModule>, Refusal> load(const std::filesystem::path& file,
                                                                     StagingDirectory& staging,
                                                                     const CheckPolicy& policy = {});
    // The same with the bytes and the manifest that were read from `file` before, and what checkModule said of them.
    static base::Result<std::unique_ptr<LoadedModule>, Refusal> load(const std::filesystem::path& file,
                                                                     const ModuleFile& read, const ModuleFacts& facts,
                                                                     StagingDirectory& staging);
    // Loads a file that is staged already and lets it lie where it is. What checkModule said of it is not known here,
    // so it is unloaded unless the manifest says resident.
    static base::Result<std::unique_ptr<LoadedModule>, Refusal> loadStaged(const std::filesystem::path& staged,
                                                                           Manifest manifest);
    // Unloads, unless facts() says resident; removes the staged file if load() made it.
    ~LoadedModule();
    LoadedModule(const LoadedModule&) = delete;
    LoadedModule& operator=(const LoadedModule&) = delete;

    const Manifest& manifest() const { return manifest_; }
    const ModuleFacts& facts() const { return facts_; }
    const std::filesystem::path& file() const { return file_; }            // as given to load()
    const std::filesystem::path& stagedFile() const { return stagedFile_; }  // what is mapped

    // The tables of each interface, as many as the manifest says; none is null.
    std::span<const weir_plugin* const> plugins() const { return plugins_; }
    std::span<const weir_load_balancer* const> loadBalancers() const { return loadBalancers_; }
    std::span<const weir_plugin_data_handler* const> dataHandlers() const { return dataHandlers_; }
    std::span<const weir_parameter_data* const> parameterData() const { return parameterData_; }
    std::span<const weir_predicate_judge* const> predicateJudges() const { return predicateJudges_; }
    std::span<const weir_match_strategy* const> matchStrategies() const { return matchStrategies_; }
    const weir_plugin* findPlugin(std::string_view key) const;              // null: not provided
    const weir_load_balancer* findLoadBalancer(std::string_view key) const;
    const weir_plugin_data_handler* findDataHandler(std::string_view key) const;
    const weir_parameter_data* findParameterData(std::string_view key) const;
    const weir_predicate_judge* findPredicateJudge(std::string_view key) const;
    const weir_match_strategy* findMatchStrategy(std::string_view key) const;

private:
    struct Library;  // Boost.DLL stays in the source file

    LoadedModule(std::filesystem::path file, Manifest manifest, ModuleFacts facts);
    base::Result<void, Refusal> open();
    base::Result<void, Refusal> readTables();

    std::filesystem::path file_;
    std::filesystem::path stagedFile_;
    bool ownsStagedFile_ = false;
    Manifest manifest_;
    ModuleFacts facts_;
    std::unique_ptr<Library> library_;
    std::span<const weir_plugin* const> plugins_;
    std::span<const weir_load_balancer* const> loadBalancers_;
    std::span<const weir_plugin_data_handler* const> dataHandlers_;
    std::span<const weir_parameter_data* const> parameterData_;
    std::span<const weir_predicate_judge* const> predicateJudges_;
    std::span<const weir_match_strategy* const> matchStrategies_;
};

}  // namespace weir::module
