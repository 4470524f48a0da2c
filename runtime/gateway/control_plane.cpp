#include "gateway/control_plane.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/log.hpp"
#include "data/data_snapshot.hpp"
#include "gateway/gateway_loop.hpp"
#include "gateway/probe_data.hpp"

namespace weir::gateway {

namespace fs = std::filesystem;

namespace {

fs::path programDirectory() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path(".") : program.parent_path();
}

// One that serves any of its keys is active.
std::vector<manage::ModuleStatus> describe(const module::ModuleCatalog& catalog) {
    std::vector<manage::ModuleStatus> modules;
    for (const module::FoundModule& found : catalog.modules()) {
        manage::ModuleStatus status;
        status.state = manage::ModuleState::NotSelected;
        status.id = found.manifest.id;
        status.version = found.manifest.version;
        status.unload = found.manifest.unload;
        status.file = found.file.string();
        status.generation = 1;
        status.since = std::chrono::system_clock::now();
        for (const module::ModuleCatalog::Entry& entry : catalog.entries()) {
            if (entry.module != &found) continue;
            const bool selected = entry.state == module::ModuleCatalog::State::Selected;
            const auto state = selected ? manage::ModuleState::Active : manage::ModuleState::NotSelected;
            status.keys.push_back({*entry.provided, state});
            if (selected) status.state = manage::ModuleState::Active;
        }
        modules.push_back(std::move(status));
    }
    return modules;
}

// The extension that may have the key instead; empty: none.
std::string replacementFor(const module::Provided& provided, const config::ReplaceList& replace) {
    for (const config::Replacement& each : replace)
        if (each.interface == provided.interface && each.key == provided.key) return each.module;
    return {};
}

fs::path extensionDirectory(const fs::path& program) {
    const bool buildTree = fs::exists(program / "../CMakeCache.txt");
    return (program / (buildTree ? "../ext" : "../lib/weir/ext")).lexically_normal();
}

}  // namespace

ModulePaths::ModulePaths(const config::Settings& settings)
    : modules(settings.modules.path.empty() ? (programDirectory() / "../lib/weir/plugins").lexically_normal()
                                            : settings.modules.path),
      spi(settings.modules.spi.empty() ? modules / "spi" : settings.modules.spi),
      extensions(settings.extPlugin.path.empty() ? extensionDirectory(programDirectory()) : settings.extPlugin.path) {}

ControlPlane::~ControlPlane() {
    handlers_.clear();
    coreHandlers_.clear();
    current_ = {};
    retired_.clear();
    extensions_.reset();
    coreMatching_.clear();
    core_.clear();
    services_.balancers = {};  // the last of the modules go before the host table that they may call
}

base::Result<std::unique_ptr<ControlPlane>> ControlPlane::prepare(const data::Configuration& configuration) {
    const std::uint32_t loops = GatewayLoop::countFor(configuration.settings);
    std::unique_ptr<ControlPlane> plane(new ControlPlane(loops));
    plane->warnings_ = configuration.warnings;
    if (configuration.settings.compat.match == config::MatchChoice::First) plane->order_ = match::Order::First;
    upstream::ServerRegistry::Options names;
    names.interval = configuration.settings.upstream.resolveInterval;
    names.checks = configuration.settings.upstreamCheck.enabled;
    plane->services_.servers.configure(std::move(names));
    if (auto loaded = plane->loadCore(configuration.settings); !loaded.ok()) return std::move(loaded).error();
    if (auto data = plane->loadData(configuration); !data.ok()) return std::move(data).error();
    plane->refreshModules();
    plane->tellHandlers();
    return plane;
}

// The files, then what calls had changed before the last stop. What the plugins no longer take of that is not a reason
// not to start: the files alone are taken then.
base::Result<void> ControlPlane::loadData(const data::Configuration& configuration) {
    auto files = std::make_shared<data::DataStore>();
    files->reload(configuration.data);
    auto built = build({}, files);
    if (!built.ok()) return std::move(built).error();
    snapshotFile_ = configuration.settings.data.snapshot;
    auto store = files;
    if (!snapshotFile_.empty()) {
        auto saved = data::loadSnapshot(snapshotFile_, warnings_);
        if (!saved.ok()) return std::move(saved).error();
        store = std::make_shared<data::DataStore>(*files);
        store->restore(std::move(saved).value());
        auto restored = build({}, store);
        if (restored.ok()) {
            built = std::move(restored);
        } else {
            warnings_.push_back(snapshotFile_.string() + ": what calls had changed is left out: " +
                                restored.error().text());
            store = files;
        }
    }
    show(std::move(store));
    use(std::move(built).value());
    return {};
}

base::Result<void> ControlPlane::loadCore(const config::Settings& settings) {
    const ModulePaths paths(settings);
    const module::ModuleCatalog catalog = module::ModuleCatalog::scan(paths.modules, paths.spi);
    if (!catalog.problems().empty()) return catalog.problems().front();
    auto staging = module::StagingDirectory::create(settings.extPlugin.staging);
    if (!staging.ok()) return std::move(staging).error();
    staging_ = std::move(staging).value();
    if (!staging_->warning().empty()) warnings_.push_back(staging_->warning());
    const config::Settings::ExtPlugin& ext = settings.extPlugin;
    const fs::path ledger = ext.ledger.empty() ? module::LoadLedger::defaultPath(paths.extensions) : ext.ledger;
    ledger_ = module::LoadLedger::open(ext.enabled ? ledger : fs::path());
    for (const module::LoadLedger::SetAside& suspect : ledger_->suspects())
        warnings_.push_back("extPlugin: the module with SHA-256 " + suspect.hash + " is set aside: " + suspect.reason);
    extensions_ = std::make_unique<ExtModules>(
        ExtModules::Limits{ext.residentLimit, ext.rollbackErrors, ext.rollbackWindow}, *ledger_);
    coreModules_ = describe(catalog);
    for (const module::ModuleCatalog::Entry& entry : catalog.entries()) {
        if (entry.state == module::ModuleCatalog::State::Selected)
            extensions_->reserve(entry.provided->interface, entry.provided->key, entry.module->manifest.id,
                                 replacementFor(*entry.provided, ext.replace));
    }
    return loadSelected(catalog);
}

base::Result<void> ControlPlane::loadSelected(const module::ModuleCatalog& catalog) {
    std::map<std::string, std::shared_ptr<module::LoadedModule>> loaded;
    const auto load = [&](const module::FoundModule& found) -> base::Result<std::shared_ptr<module::LoadedModule>> {
        auto& slot = loaded[found.manifest.id];
        if (slot) return slot;
        auto made = module::LoadedModule::load(found.file, *staging_);
        if (!made.ok()) return made.error().error(found.file.string());
        slot = std::move(made).value();
        return slot;
    };
    // Balancers first: the plugins' data refers to them.
    for (const std::string_view interface :
         {module::kLoadBalancerInterface, module::kParameterDataInterface, module::kPredicateJudgeInterface,
          module::kMatchStrategyInterface, module::kPluginInterface, module::kPluginDataHandlerInterface}) {
        for (const module::ModuleCatalog::Entry& entry : catalog.entries()) {
            if (entry.state != module::ModuleCatalog::State::Selected) continue;
            if (entry.provided->interface != interface) continue;
            auto module = load(*entry.module);
            if (!module.ok()) return std::move(module).error();
            if (auto taken = take(*entry.provided, *module); !taken.ok()) return taken;
        }
    }
    return {};
}

base::Result<void> ControlPlane::take(const module::Provided& provided,
                                      const std::shared_ptr<module::LoadedModule>& module) {
    if (provided.interface == module::kLoadBalancerInterface) {
        const weir_load_balancer* table = module->findLoadBalancer(provided.key);
        if (!table) {
            return base::Error{base::ErrorCode::InvalidModule, module->file().string(),
                               "it no longer provides load balancer '" + provided.key +
                                   "': the file was replaced meanwhile"};
        }
        services_.balancers.add({provided.key, table, &host_, module});
    } else if (provided.interface == module::kPluginInterface) {
        auto instance = PluginInstance::create(module, provided, host_);
        if (!instance.ok()) return std::move(instance).error();
        core_.push_back(std::move(instance).value());
    } else if (MatchPart::isInterface(provided.interface)) {
        auto part = MatchPart::create(module, provided, host_);
        if (!part.ok()) return std::move(part).error();
        coreMatching_.push_back(std::move(part).value());
    } else {
        auto handler = DataHandler::create(module, provided.key, host_);
        if (!handler.ok()) return std::move(handler).error();
        coreHandlers_.push_back(std::move(handler).value());
    }
    return {};
}

base::Result<BuiltChain> ControlPlane::build(const ExtModules::Parts& extensions,
                                             const std::shared_ptr<const data::DataStore>& store) const {
    ChainInput input;
    for (const std::shared_ptr<PluginInstance>& core : core_) {
        const auto sameKey = [&](const auto& each) { return each->provided().key == core->provided().key; };
        const bool replaced = std::any_of(extensions.plugins.begin(), extensions.plugins.end(), sameKey);
        if (!replaced) input.plugins.push_back(core);
    }
    input.plugins.insert(input.plugins.end(), extensions.plugins.begin(), extensions.plugins.end());
    for (const MatchPart& part : coreMatching_) part.addTo(input.providers);
    for (const MatchPart& part : extensions.matching) part.addTo(input.providers);
    input.data = {store, &store->data()};
    input.order = order_;
    input.metrics = &metrics_;
    input.sets = &host_.control.sets;
    const std::uint64_t version = current_.snapshot ? current_.snapshot->version + 1 : 1;
    return buildChain(std::move(input), version, &current_);
}

void ControlPlane::use(BuiltChain built) {
    for (std::string& warning : built.warnings)
        if (warned_.insert(warning).second) warnings_.push_back(std::move(warning));
    built.warnings.clear();
    // The one before goes only when every loop has moved on, and then from here: its modules may unload with it.
    retired_.push_back(std::make_shared<const BuiltChain>(std::exchange(current_, std::move(built))));
    {
        const std::lock_guard lock(shownMutex_);
        waiting_ = current_.waiting;
    }
    extensions_->setSnapshot(current_.snapshot->version);
    if (publish_) publish_(current_.snapshot);
}

// ---- Extension modules ----

base::Result<Admission, module::Refusal> ControlPlane::admit(const fs::path& file, const module::Manifest& manifest,
                                                             const std::string& sha256, bool rollingBack) const {
    if (auto refusal = extensions_->admit(file, manifest, sha256, rollingBack)) return std::move(*refusal);
    std::set<std::string> plugins;
    for (const module::Provided& provided : manifest.provides) plugins.insert(provided.key);
    return Admission{probeData(plugins, store_->data()), balancerNames()};
}

std::vector<std::string> ControlPlane::balancerNames() const {
    std::vector<std::string> names;
    for (const auto& balancer : services_.balancers.all()) names.push_back(balancer.key);
    return names;
}

// Builds the chain to find out whether it can be built, and keeps what it built.
ExtModules::Try ControlPlane::accepting(std::optional<BuiltChain>& accepted) const {
    return [this, &accepted](const ExtModules::Parts& extensions) -> base::Result<void> {
        auto built = build(extensions, store_);
        if (!built.ok()) return std::move(built).error();
        accepted = std::move(built).value();
        return {};
    };
}

// `accepted`: the chain of the extensions as they are now, if one was built.
void ControlPlane::useExtensions(std::optional<BuiltChain> accepted) {
    auto built = accepted ? base::Result<BuiltChain>(std::move(*accepted))
                          : build(extensions_->parts(), store_);
    refreshModules();  // first: who sees a plugin at work must find it in the list
    if (built.ok()) use(std::move(built).value());
    else base::logError("extPlugin: the chain can not be built: " + built.error().text());  // each was accepted
    tellHandlers();
}

void ControlPlane::apply(FoundModules found) {
    std::optional<BuiltChain> accepted;
    // Removals come first and are not asked about: what was accepted after them stands as it is.
    if (extensions_->apply(std::move(found), accepting(accepted))) useExtensions(std::move(accepted));
    else refreshModules();
}

base::Result<void> ControlPlane::disable(const std::string& id) {
    auto changed = extensions_->disable(id);
    if (!changed.ok()) return std::move(changed).error();
    if (*changed) useExtensions({});
    return {};
}

base::Result<void, module::Refusal> ControlPlane::rollBack(PreparedModule prepared, const std::string& reason) {
    std::optional<BuiltChain> accepted;
    if (auto done = extensions_->rollBack(std::move(prepared), reason, accepting(accepted)); !done.ok()) return done;
    useExtensions(std::move(accepted));
    return {};
}

void ControlPlane::refuseRollBack(const std::string& id, const std::string& reason, const module::Refusal& refusal) {
    extensions_->refuseRollBack(id, reason, refusal);
    refreshModules();
}

base::Result<void> ControlPlane::withdraw(const std::string& id, const std::string& reason) {
    if (auto done = extensions_->withdraw(id, reason); !done.ok()) return done;
    useExtensions({});
    return {};
}

// New handlers hear all data in force; those of generations that went hear nothing more.
void ControlPlane::tellHandlers() {
    std::vector<std::shared_ptr<DataHandler>> handlers = coreHandlers_;
    const std::vector<std::shared_ptr<DataHandler>> extensions = extensions_->handlers();
    handlers.insert(handlers.end(), extensions.begin(), extensions.end());
    for (const std::shared_ptr<DataHandler>& handler : handlers)
        if (std::find(handlers_.begin(), handlers_.end(), handler) == handlers_.end()) handler->replay(store_->data());
    handlers_ = std::move(handlers);
}

base::Result<void> ControlPlane::change(const Edit& edit) {
    auto edited = std::make_shared<data::DataStore>(*store_);
    if (auto done = edit(*edited); !done.ok()) return done;
    auto built = build(extensions_->parts(), edited);
    if (!built.ok()) return std::move(built).error();
    const std::shared_ptr<const data::DataStore> before = store_;
    show(std::move(edited));
    use(std::move(built).value());
    for (const std::shared_ptr<DataHandler>& handler : handlers_) handler->change(before->data(), store_->data());
    retired_.push_back(before);
    if (snapshotFile_.empty()) return {};
    if (auto saved = data::saveSnapshot(snapshotFile_, store_->changes()); !saved.ok())
        base::logError("data.snapshot: " + saved.error().text() +
                       "; the change serves, but a restart will not know it");
    return {};
}

void ControlPlane::show(std::shared_ptr<const data::DataStore> store) {
    const std::lock_guard lock(shownMutex_);
    store_.swap(store);  // the one before is freed by who leaves, not under the lock
}

std::shared_ptr<const data::DataStore> ControlPlane::store() const {
    const std::lock_guard lock(shownMutex_);
    return store_;
}

std::shared_ptr<const manage::WaitingEntries> ControlPlane::waiting() const {
    const std::lock_guard lock(shownMutex_);
    return waiting_;
}

void ControlPlane::refreshModules() {
    std::vector<manage::ModuleStatus> modules = coreModules_;
    const std::vector<manage::ModuleStatus> extensions = extensions_->modules();
    modules.insert(modules.end(), extensions.begin(), extensions.end());
    const std::lock_guard lock(shownMutex_);
    modules_ = std::move(modules);
    draining_ = extensions_->draining();
    history_ = extensions_->history();
}

std::vector<manage::ModuleStatus> ControlPlane::modules() const {
    const std::lock_guard lock(shownMutex_);
    std::vector<manage::ModuleStatus> modules = modules_;
    for (const ExtModules::Draining& each : draining_)
        if (!each.module.expired()) modules.push_back(each.status);
    return modules;
}

std::vector<manage::ModuleEvent> ControlPlane::history(const std::string& id) const {
    const std::lock_guard lock(shownMutex_);
    const auto found = history_.find(id);
    if (found == history_.end()) return {};
    return {found->second.begin(), found->second.end()};
}

}  // namespace weir::gateway
