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
    for (const fs::path& file : changes.gone) {
        refused_.erase(file);
        const auto serving = serving_.find(file);
        if (serving == serving_.end()) continue;
        auto remaining = serving_;
        remaining.erase(file);
        // Taking a plugin out can not make data invalid.
        base::logInfo("module " + serving->second.id + " (" + file.string() + ") was removed");
        serving_ = std::move(remaining);
        plugins_ = pluginsOf(serving_);
        scanned.changed = true;
    }
    for (const module::ExtDirectory::Refused& bad : changes.refused) refuse(bad.file, bad.error);
    for (const module::ExtDirectory::Changed& found : changes.changed) take(found, accept, scanned);
    return scanned;
}

void ExtModules::take(const module::ExtDirectory::Changed& found, const Try& accept, Scanned& scanned) {
    const auto before = serving_.find(found.file);
    if (before != serving_.end() && before->second.hash == found.hash) {  // back to what serves
        refused_.erase(found.file);
        return;
    }
    auto made = load(found);
    if (!made.ok()) return refuse(found.file, made.error());
    const std::string name = "module " + made->id + " " + made->version + " (" + found.file.string() + ")";
    auto candidate = serving_;
    const bool replaced = candidate.contains(found.file);
    candidate[found.file] = std::move(made).value();
    auto plugins = pluginsOf(candidate);
    if (auto good = accept(plugins); !good.ok()) {
        return refuse(found.file,
                      refusal("config_refused: it does not take the data in force: " + good.error().text()));
    }
    serving_ = std::move(candidate);
    plugins_ = std::move(plugins);
    refused_.erase(found.file);
    scanned.changed = true;
    std::string keys;
    for (const module::Provided& provided : serving_[found.file].provides)
        keys += (keys.empty() ? "" : ", ") + provided.interface + " " + provided.key;
    base::logInfo(name + (replaced ? " replaces its last generation: " : " serves: ") + keys);
}

base::Result<void> ExtModules::mayServe(const fs::path& file, const module::Manifest& manifest) const {
    if (coreIds_.contains(manifest.id)) return refusal("its id '" + manifest.id + "' is a core module's");
    for (const auto& [other, generation] : serving_) {
        if (other != file && generation.id == manifest.id)
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
            for (const module::Provided& taken : generation.provides) {
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
    made.hash = found.hash;
    made.id = manifest.id;
    made.version = manifest.version;
    made.provides = manifest.provides;
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

void ExtModules::refuse(const fs::path& file, const base::Error& error) {
    const bool serves = serving_.contains(file);
    refused_[file] = error.message;
    base::logError("module " + file.string() + " is refused: " + error.message +
                   (serves ? "; its last generation serves on" : ""));
}

std::vector<ProvidedRow> ExtModules::rows() const {
    std::vector<ProvidedRow> rows;
    for (const auto& [file, generation] : serving_) {
        for (const module::Provided& provided : generation.provides) {
            const bool plugin = provided.interface == module::kPluginInterface;
            rows.push_back({provided.interface, provided.key, plugin ? std::to_string(provided.order) : "",
                            generation.id, generation.version, "active"});
        }
    }
    for (const auto& [file, why] : refused_)
        rows.push_back({"", "", "", file.filename().string(), "", "refused: " + why});
    return rows;
}

}  // namespace weir::gateway
