#include "gateway/ext_modules.hpp"

#include <algorithm>
#include <system_error>

#include "base/assert.hpp"
#include "base/log.hpp"

namespace weir::gateway {

namespace fs = std::filesystem;
using module::Refusal;
using module::RefusalCode;

namespace {

constexpr std::size_t kHistory = 50;  // events of one module

void removeFile(const fs::path& file) {
    std::error_code ignored;
    if (!file.empty()) fs::remove(file, ignored);
}

void enter(manage::ModuleState state, manage::ModuleStatus& status) {
    status.state = state;
    status.since = std::chrono::system_clock::now();
    status.rollbackRefused.reset();  // of the state before
    for (manage::ModuleStatus::Key& key : status.keys) key.state = state;
}

std::string keysOf(const manage::ModuleStatus& status) {
    std::string keys;
    for (const auto& [provided, state] : status.keys)
        keys += (keys.empty() ? "" : ", ") + provided.interface + " " + provided.key;
    return keys;
}

Refusal dataRefused(const base::Error& error) {
    return {RefusalCode::ConfigRefused, "the data in force", "refused: " + error.text(), {},
            "change the data or the module"};
}

base::Error noModule(const std::string& id) {
    return {base::ErrorCode::NotFound, "", "there is no extension module '" + id + "'"};
}

}  // namespace

std::uint64_t ExtModules::Generation::failures() const {
    std::uint64_t sum = 0;
    for (const auto& plugin : plugins) sum += plugin->failures();
    return sum;
}

ExtModules::~ExtModules() { ledger_.servedAll(); }

void ExtModules::reserve(const std::string& interface, const std::string& key, const std::string& module,
                         const std::string& unless) {
    reserved_[{interface, key}] = {module, unless};
    coreIds_.insert(module);
}

const ExtModules::Generation* ExtModules::serving(const std::string& id) const {
    for (const auto& [file, generation] : serving_)
        if (generation.status.id == id) return &generation;
    return nullptr;
}

// ---- Whether a module may come ----

std::optional<Refusal> ExtModules::admit(const fs::path& file, const module::Manifest& manifest,
                                         const std::string& sha256, bool rollingBack) const {
    if (disabled_.contains(manifest.id))
        return Refusal{RefusalCode::Disabled, {}, "module '" + manifest.id + "' was disabled by call", {}, "enable it"};
    if (const auto why = ledger_.reasonOf(sha256); why && !rollingBack) {
        return Refusal{RefusalCode::SetAside, {}, "these bytes are set aside: " + *why, {},
                       "replace the file, or clear it"};
    }
    if (coreIds_.contains(manifest.id))
        return Refusal{RefusalCode::IdConflict, "its id", "'" + manifest.id + "', a core module's", {},
                       "give the module an id of its own"};
    for (const auto& [other, generation] : serving_) {
        if (other != file && generation.status.id == manifest.id) {
            return Refusal{RefusalCode::IdConflict, "its id", "'" + manifest.id + "', which serves from " +
                           other.string() + " already", {}, "remove one of the two files"};
        }
    }
    for (std::size_t i = 0; i < manifest.provides.size(); ++i) {
        const module::Provided& provided = manifest.provides[i];
        const std::string field = "provides[" + std::to_string(i) + "]";
        const std::string what = provided.interface + " '" + provided.key + "'";
        if (provided.interface != module::kPluginInterface &&
            provided.interface != module::kPluginDataHandlerInterface && !MatchPart::isInterface(provided.interface)) {
            return Refusal{RefusalCode::Unsupported, field, what,
                           "Plugin, PluginDataHandler, ParameterData, PredicateJudge or MatchStrategy",
                           "only these can be added to a running gateway"};
        }
        const auto core = reserved_.find({provided.interface, provided.key});
        if (core != reserved_.end() && core->second.unless != manifest.id) {
            return Refusal{RefusalCode::CoreKey, field, what + ", served by the core module '" + core->second.module +
                           "'", {}, "name this module in extPlugin.replace to have it instead"};
        }
        for (const auto& [other, generation] : serving_) {
            if (other == file) continue;
            for (const auto& [taken, state] : generation.status.keys) {
                if (taken.interface != provided.interface || taken.key != provided.key) continue;
                return Refusal{RefusalCode::KeyConflict, field, what + ", which " + other.string() + " serves already",
                               {}, "remove one of the two files"};
            }
        }
    }
    const auto dead = resident_.find(manifest.id);
    const bool once = manifest.unload == module::Unload::Resident;
    const std::size_t most = once ? 0 : limits_.resident;
    if (dead != resident_.end() && dead->second > most) {
        return Refusal{RefusalCode::ResidentLimit, "generations that stay in memory", std::to_string(dead->second),
                       std::to_string(most) + " at most", "restart the gateway to take this one"};
    }
    if (once && serving(manifest.id))
        return Refusal{RefusalCode::ResidentLimit, "unload", "resident, and a generation of it serves", {},
                       "restart the gateway to take this one"};
    return std::nullopt;
}

// ---- What was found ----

bool ExtModules::serves(const fs::path& file, const std::string& sha256) {
    const auto serving = serving_.find(file);
    if (serving == serving_.end() || serving->second.status.sha256 != sha256) return false;
    out_.erase(file);
    return true;
}

bool ExtModules::apply(FoundModules found, const Try& accept) {
    if (!found.alarm.empty() && found.alarm != alarm_) base::logError("extPlugin: " + found.alarm);
    alarm_ = found.alarm;
    bool changed = false;
    if (alarm_.empty()) {
        std::erase_if(out_, [&](const auto& each) { return !found.present.contains(each.first); });
        std::erase_if(disabled_, [&](const auto& each) { return !found.present.contains(each.second); });
    }
    for (const fs::path& file : found.gone) takeGone(file, changed);
    for (FoundModules::Bad& bad : found.bad) refuse(bad.file, std::move(bad.status), bad.refusal);
    for (PreparedModule& prepared : found.prepared) changed = take(std::move(prepared), accept) || changed;
    return changed;
}

// Taking a plugin out can not make data invalid.
void ExtModules::takeGone(const fs::path& file, bool& changed) {
    const auto serving = serving_.find(file);
    if (serving == serving_.end()) return;
    base::logInfo("module " + serving->second.status.id + " (" + file.string() + ") was removed");
    note(serving->second.status, "removed");
    drain(file, true);
    changed = true;
}

bool ExtModules::take(PreparedModule prepared, const Try& accept) {
    // Others of the same scan may have come first.
    if (auto refusal = admit(prepared.file, prepared.manifest, prepared.sha256, false)) {
        removeFile(prepared.kept);
        refuse(prepared.file, manage::describe(prepared.manifest, prepared.file, prepared.sha256), *refusal);
        return false;
    }
    const fs::path file = prepared.file;
    const manage::ModuleStatus status = manage::describe(prepared.manifest, file, prepared.sha256);
    const bool replaces = serving_.contains(file);
    if (auto done = put(prepared, accept, replaces ? "replaced" : "loaded"); !done.ok()) {
        removeFile(prepared.kept);
        refuse(file, status, dataRefused(done.error()));
        return false;
    }
    base::logInfo("module " + status.id + " " + status.version + " (" + file.string() + ")" +
                  (replaces ? " replaces its last generation: " : " serves: ") + keysOf(status));
    return true;
}

ExtModules::Generation ExtModules::generationOf(PreparedModule prepared) {
    Generation made;
    made.status = manage::describe(prepared.manifest, prepared.file, prepared.sha256);
    made.status.stays = prepared.facts.residentReason;
    made.plugins = std::move(prepared.plugins);
    made.handlers = std::move(prepared.handlers);
    made.matching = std::move(prepared.matching);
    made.module = prepared.module;
    made.kept = std::move(prepared.kept);
    made.resident = prepared.facts.unload == module::Unload::Resident;
    return made;
}

// Makes it serve in place of what the file had, if the plugins can be built so.
base::Result<void> ExtModules::put(PreparedModule& prepared, const Try& accept, std::string_view event) {
    const fs::path file = prepared.file;
    Generation made = generationOf(std::move(prepared));
    prepared.kept = made.kept;  // for who has to clean up
    Generations candidate = serving_;
    candidate[file] = made;
    if (auto good = accept(partsOf(candidate)); !good.ok()) return good;
    if (const auto before = serving_.find(file); before != serving_.end()) {
        removeFile(std::exchange(previous_[file], {before->second.status.sha256, before->second.kept}).kept);
        drain(file, false);
    }
    out_.erase(file);
    Generation& generation = serving_[file] = std::move(made);
    generation.status.firstSnapshot = snapshot_ + 1;
    generation.status.generation = ++generations_[generation.status.id];
    enter(manage::ModuleState::Active, generation.status);
    if (generation.resident) ++resident_[generation.status.id];
    parts_ = partsOf(serving_);
    note(generation.status, event);
    return {};
}

void ExtModules::refuse(const fs::path& file, manage::ModuleStatus status, const Refusal& refusal) {
    const bool disabled = refusal.code == RefusalCode::Disabled;
    enter(disabled ? manage::ModuleState::Disabled : manage::ModuleState::Refused, status);
    status.refusal = refusal;
    if (!disabled) {
        base::logError("module " + file.string() + " is refused: " + refusal.text() +
                       (serving_.contains(file) ? "; its last generation serves on" : ""));
        note(status, "refused", refusal.text());
    }
    out_[file] = std::move(status);
}

// forget: nothing is left to go back to.
void ExtModules::drain(const fs::path& file, bool forget) {
    Generation& ending = serving_[file];
    ledger_.served(ending.status.sha256);
    draining_.push_back({ending.status, ending.module});
    draining_.back().status.lastSnapshot = snapshot_;
    enter(manage::ModuleState::Draining, draining_.back().status);
    if (forget) {
        removeFile(ending.kept);
        if (const auto previous = previous_.find(file); previous != previous_.end()) {
            removeFile(previous->second.kept);
            previous_.erase(previous);
        }
    }
    serving_.erase(file);
    parts_ = partsOf(serving_);
}

// ---- Calls ----

base::Result<bool> ExtModules::disable(const std::string& id) {
    const Generation* found = serving(id);
    if (!found) {
        if (disabled_.contains(id)) return false;
        return noModule(id);
    }
    manage::ModuleStatus status = found->status;
    const fs::path file = status.file;
    drain(file, true);
    disabled_[id] = file;
    enter(manage::ModuleState::Disabled, status);
    base::logInfo("module " + id + " was disabled by call");
    note(status, "disabled");
    out_[file] = std::move(status);
    return true;
}

base::Result<fs::path> ExtModules::enable(const std::string& id) {
    const auto found = disabled_.find(id);
    if (found == disabled_.end()) {
        if (const Generation* active = serving(id)) return fs::path(active->status.file);
        return noModule(id);
    }
    const fs::path file = found->second;
    disabled_.erase(found);
    base::logInfo("module " + id + " was enabled by call");
    return file;
}

base::Result<fs::path> ExtModules::clear(const std::string& id) {
    for (const auto& [file, status] : out_) {
        if (status.id != id && file.filename() != id) continue;
        if (!status.sha256.empty()) ledger_.clear(status.sha256);
        return file;
    }
    return base::Error{base::ErrorCode::NotFound, "", "nothing of module '" + id + "' is set aside or refused"};
}

base::Result<fs::path> ExtModules::fileOf(const std::string& id) const {
    if (const Generation* found = serving(id)) return fs::path(found->status.file);
    for (const auto& [file, status] : out_)
        if (status.id == id || file.filename() == id) return file;
    return noModule(id);
}

base::Result<ExtModules::Backward> ExtModules::backward(const std::string& id) const {
    const Generation* found = serving(id);
    if (!found) return noModule(id);
    const auto previous = previous_.find(found->status.file);
    if (previous == previous_.end()) {
        return base::Error{base::ErrorCode::NotFound, "",
                           "module '" + id + "' has no generation before this one to go back to"};
    }
    return Backward{found->status.file, previous->second.sha256, previous->second.kept};
}

base::Result<void, Refusal> ExtModules::rollBack(PreparedModule prepared, const std::string& reason,
                                                 const Try& accept) {
    const fs::path file = prepared.file;
    const auto serves = serving_.find(file);
    WEIR_ASSERT(serves != serving_.end());  // since backward(): who takes modules out does so on the same thread
    const manage::ModuleStatus bad = serves->second.status;
    if (auto done = put(prepared, accept, "rolled back"); !done.ok()) {
        removeFile(prepared.kept);
        return dataRefused(done.error());
    }
    removeFile(previous_[file].kept);
    previous_.erase(file);  // of the one that was rolled back nobody wants another try
    ledger_.setAside(bad.sha256, "rolled back: " + reason);
    manage::ModuleStatus status = bad;
    status.generation = 0;
    enter(manage::ModuleState::Refused, status);
    status.refusal = Refusal{RefusalCode::SetAside, {}, "these bytes are set aside: rolled back: " + reason, {},
                             "replace the file, or clear it"};
    out_[file] = std::move(status);
    base::logWarning("module " + bad.id + " was rolled back from generation " + std::to_string(bad.generation) + ": " +
                     reason);
    return {};
}

void ExtModules::refuseRollBack(const std::string& id, const std::string& reason, const Refusal& refusal) {
    for (auto& [file, generation] : serving_) {
        if (generation.status.id != id) continue;
        generation.status.rollbackRefused = refusal;
        base::logError("module " + id + " is not rolled back (" + reason + "), generation " +
                       std::to_string(generation.status.generation) + " serves on: the one before is refused: " +
                       refusal.text());
        note(generation.status, "roll-back refused", refusal.text());
    }
}

base::Result<void> ExtModules::withdraw(const std::string& id, const std::string& reason) {
    const Generation* found = serving(id);
    if (!found) return noModule(id);
    manage::ModuleStatus status = found->status;
    const fs::path file = status.file;
    ledger_.setAside(status.sha256, reason);
    drain(file, true);
    refuse(file, std::move(status), {RefusalCode::SetAside, {}, "these bytes are set aside: " + reason, {},
                                     "replace the file, or clear it"});
    return {};
}

std::vector<std::string> ExtModules::failing() {
    std::vector<std::string> ids;
    if (!limits_.rollbackErrors) return ids;
    const auto now = std::chrono::system_clock::now();
    for (auto& [file, generation] : serving_) {
        if (generation.told || now - generation.status.since > limits_.rollbackWindow) continue;
        if (generation.failures() < limits_.rollbackErrors) continue;
        generation.told = true;
        ids.push_back(generation.status.id);
    }
    return ids;
}

void ExtModules::confirm() {
    constexpr std::chrono::seconds kLongEnough = module::LoadLedger::kProvenAfter;
    const auto now = std::chrono::system_clock::now();
    for (auto& [file, generation] : serving_) {
        if (generation.confirmed || now - generation.status.since < kLongEnough) continue;
        generation.confirmed = true;
        ledger_.served(generation.status.sha256);
    }
}

// ---- What there is ----

ExtModules::Parts ExtModules::partsOf(const Generations& generations) {
    Parts parts;
    for (const auto& [file, generation] : generations) {
        parts.plugins.insert(parts.plugins.end(), generation.plugins.begin(), generation.plugins.end());
        parts.matching.insert(parts.matching.end(), generation.matching.begin(), generation.matching.end());
    }
    return parts;
}

std::vector<std::shared_ptr<DataHandler>> ExtModules::handlers() const {
    std::vector<std::shared_ptr<DataHandler>> handlers;
    for (const auto& [file, generation] : serving_)
        handlers.insert(handlers.end(), generation.handlers.begin(), generation.handlers.end());
    return handlers;
}

std::set<std::string> ExtModules::replacedKeys() const {
    std::set<std::string> keys;
    for (const auto& [file, generation] : serving_) {
        for (const auto& plugin : generation.plugins)
            if (reserved_.contains({std::string(module::kPluginInterface), plugin->provided().key}))
                keys.insert(plugin->provided().key);
    }
    return keys;
}

std::vector<manage::ModuleStatus> ExtModules::modules() const {
    std::vector<manage::ModuleStatus> modules;
    for (const auto& [file, generation] : serving_) {
        modules.push_back(generation.status);
        modules.back().failures = generation.failures();
    }
    for (const auto& [file, status] : out_) modules.push_back(status);
    return modules;
}

const std::vector<ExtModules::Draining>& ExtModules::draining() {
    std::erase_if(draining_, [](const Draining& each) { return each.module.expired(); });
    return draining_;
}

void ExtModules::note(const manage::ModuleStatus& status, std::string_view what, std::string detail) {
    std::deque<manage::ModuleEvent>& events = history_[status.id];
    events.push_back({std::chrono::system_clock::now(), std::string(what), status.version, status.sha256,
                      status.generation, std::move(detail)});
    if (events.size() > kHistory) events.pop_front();
}

}  // namespace weir::gateway
