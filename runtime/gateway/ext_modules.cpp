#include "gateway/ext_modules.hpp"

#include "base/log.hpp"

namespace weir::gateway {

namespace fs = std::filesystem;

namespace {

base::Error refusal(std::string message) { return {base::ErrorCode::InvalidModule, "", std::move(message)}; }

// Says when the last request has let go of a generation and its code is unmapped.
std::shared_ptr<module::LoadedModule> announceEnd(std::unique_ptr<module::LoadedModule> module) {
    return {module.release(), [](module::LoadedModule* ending) {
                const std::string name = ending->manifest().id + " " + ending->manifest().version;
                delete ending;
                base::logInfo("module " + name + ": unloaded");
            }};
}

manage::ModuleStatus describe(const module::ExtDirectory::Changed& found) {
    const module::Manifest& manifest = found.module.manifest;
    manage::ModuleStatus status;
    status.id = manifest.id;
    status.version = manifest.version;
    status.unload = manifest.unload;
    for (const module::Provided& provided : manifest.provides) status.keys.push_back({provided, status.state});
    status.file = found.file.string();
    status.sha256 = found.hash;
    return status;
}

void enter(manage::ModuleState state, manage::ModuleStatus& status) {
    status.state = state;
    status.since = std::chrono::system_clock::now();
    for (manage::ModuleStatus::Key& key : status.keys) key.state = state;
}

}  // namespace

ExtModules::ExtModules(fs::path directory, std::chrono::milliseconds settle, module::StagingDirectory& staging,
                       const weir_host& host)
    : directory_(std::move(directory), settle), staging_(staging), host_(host) {}

void ExtModules::reserve(const std::string& interface, const std::string& key, const std::string& module) {
    reserved_[{interface, key}] = module;
    coreIds_.insert(module);
}

ExtModules::Scanned ExtModules::scan(const Try& accept) {
    Scanned scanned;
    const module::ExtDirectory::Changes changes = directory_.scan();
    if (!changes.alarm.empty() && changes.alarm != alarm_) base::logError("extPlugin: " + changes.alarm);
    alarm_ = changes.alarm;
    scanned.unsettled = !changes.unsettled.empty() || !alarm_.empty();
    // Not all that go are told: a file that never was a module is of no concern to the others.
    std::error_code ignored;
    if (changes.alarm.empty())
        std::erase_if(refused_, [&](const auto& each) { return !fs::exists(each.first, ignored); });
    for (const fs::path& file : changes.gone) {
        const auto serving = serving_.find(file);
        if (serving == serving_.end()) continue;
        auto remaining = serving_;
        remaining.erase(file);
        // Taking a plugin out can not make data invalid.
        base::logInfo("module " + serving->second.status.id + " (" + file.string() + ") was removed");
        drain(serving->second);
        serving_ = std::move(remaining);
        plugins_ = pluginsOf(serving_);
        scanned.changed = true;
    }
    for (const module::ExtDirectory::Refused& bad : changes.refused) {
        manage::ModuleStatus status;
        status.id = bad.file.filename().string();
        status.file = bad.file.string();
        refuse(bad.file, std::move(status), bad.error);
    }
    for (const module::ExtDirectory::Changed& found : changes.changed) take(found, accept, scanned);
    return scanned;
}

void ExtModules::take(const module::ExtDirectory::Changed& found, const Try& accept, Scanned& scanned) {
    const auto before = serving_.find(found.file);
    if (before != serving_.end() && before->second.status.sha256 == found.hash) {  // back to what serves
        refused_.erase(found.file);
        return;
    }
    auto made = load(found);
    if (!made.ok()) return refuse(found.file, describe(found), made.error());
    const std::string name = "module " + made->status.id + " " + made->status.version + " (" + found.file.string() + ")";
    auto candidate = serving_;
    const bool replaced = candidate.contains(found.file);
    candidate[found.file] = std::move(made).value();
    auto plugins = pluginsOf(candidate);
    if (auto good = accept(plugins); !good.ok()) {
        return refuse(found.file, describe(found),
                      refusal("config_refused: it does not take the data in force: " + good.error().text()));
    }
    if (replaced) drain(before->second);
    serving_ = std::move(candidate);
    plugins_ = std::move(plugins);
    refused_.erase(found.file);
    manage::ModuleStatus& status = serving_[found.file].status;
    status.generation = ++generations_[status.id];
    enter(manage::ModuleState::Active, status);
    scanned.changed = true;
    std::string keys;
    for (const auto& [provided, state] : status.keys)
        keys += (keys.empty() ? "" : ", ") + provided.interface + " " + provided.key;
    base::logInfo(name + (replaced ? " replaces its last generation: " : " serves: ") + keys);
}

base::Result<void> ExtModules::mayServe(const fs::path& file, const module::Manifest& manifest) const {
    if (coreIds_.contains(manifest.id)) return refusal("its id '" + manifest.id + "' is a core module's");
    for (const auto& [other, generation] : serving_) {
        if (other != file && generation.status.id == manifest.id)
            return refusal("module '" + manifest.id + "' serves from " + other.string() + " already");
    }
    for (const module::Provided& provided : manifest.provides) {
        const std::string what = provided.interface + " '" + provided.key + "'";
        if (provided.interface != module::kPluginInterface && provided.interface != module::kPluginDataHandlerInterface)
            return refusal(what + ": only plugins and data handlers can be added to a running gateway");
        if (const auto core = reserved_.find({provided.interface, provided.key}); core != reserved_.end())
            return refusal(what + " is served by the core module '" + core->second + "'");
        for (const auto& [other, generation] : serving_) {
            if (other == file) continue;
            for (const auto& [taken, state] : generation.status.keys) {
                if (taken.interface == provided.interface && taken.key == provided.key)
                    return refusal(what + " is served by " + other.string() + " already");
            }
        }
    }
    return {};
}

base::Result<ExtModules::Generation> ExtModules::load(const module::ExtDirectory::Changed& found) {
    const module::Manifest& manifest = found.module.manifest;
    if (auto may = mayServe(found.file, manifest); !may.ok()) return std::move(may).error();
    auto loaded = module::LoadedModule::load(found.file, found.module, staging_);
    if (!loaded.ok()) return std::move(loaded).error();
    const std::shared_ptr<module::LoadedModule> module = announceEnd(std::move(loaded).value());
    Generation made;
    made.status = describe(found);
    made.module = module;
    for (const module::Provided& provided : manifest.provides) {
        if (provided.interface == module::kPluginDataHandlerInterface) {
            auto handler = DataHandler::create(module, provided.key, host_);
            if (!handler.ok()) return std::move(handler).error();
            made.handlers.push_back(std::move(handler).value());
            continue;
        }
        auto instance = PluginInstance::create(module, provided, host_);
        if (!instance.ok()) return std::move(instance).error();
        made.plugins.push_back(std::move(instance).value());
    }
    return made;
}

std::vector<std::shared_ptr<PluginInstance>> ExtModules::pluginsOf(const std::map<fs::path, Generation>& generations) {
    std::vector<std::shared_ptr<PluginInstance>> plugins;
    for (const auto& [file, generation] : generations)
        plugins.insert(plugins.end(), generation.plugins.begin(), generation.plugins.end());
    return plugins;
}

std::vector<std::shared_ptr<DataHandler>> ExtModules::handlers() const {
    std::vector<std::shared_ptr<DataHandler>> handlers;
    for (const auto& [file, generation] : serving_)
        handlers.insert(handlers.end(), generation.handlers.begin(), generation.handlers.end());
    return handlers;
}

void ExtModules::refuse(const fs::path& file, manage::ModuleStatus status, const base::Error& error) {
    const bool serves = serving_.contains(file);
    enter(manage::ModuleState::Refused, status);
    status.reason = error.message;
    refused_[file] = std::move(status);
    base::logError("module " + file.string() + " is refused: " + error.message +
                   (serves ? "; its last generation serves on" : ""));
}

void ExtModules::drain(const Generation& generation) {
    draining_.push_back({generation.status, generation.module});
    enter(manage::ModuleState::Draining, draining_.back().status);
}

std::vector<manage::ModuleStatus> ExtModules::modules() const {
    std::vector<manage::ModuleStatus> modules;
    for (const auto& [file, generation] : serving_) modules.push_back(generation.status);
    for (const auto& [file, status] : refused_) modules.push_back(status);
    return modules;
}

const std::vector<ExtModules::Draining>& ExtModules::draining() {
    std::erase_if(draining_, [](const Draining& each) { return each.module.expired(); });
    return draining_;
}

}  // namespace weir::gateway
