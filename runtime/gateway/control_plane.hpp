#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "chain/host_table.hpp"
#include "data/configuration.hpp"
#include "data/data_store.hpp"
#include "gateway/chain_builder.hpp"
#include "gateway/ext_modules.hpp"
#include "gateway/plugin_instance.hpp"
#include "module/catalog.hpp"
#include "module/staging_directory.hpp"

namespace weir::gateway {

// Where modules are: what the settings say, else what belongs to the program: <program>/../lib/weir/plugins with its
// spi, and for extensions <program>/../lib/weir/ext, in a build tree <program>/../ext.
struct ModulePaths {
    explicit ModulePaths(const config::Settings& settings);

    std::filesystem::path modules;
    std::filesystem::path spi;
    std::filesystem::path extensions;
};

// Modules and data, and the chain that is built of them. All of it belongs to the control thread: prepare() may run on
// another before that one starts.
class ControlPlane {
public:
    // Loads the core modules and builds the first chain. Errors are the operator's.
    static base::Result<std::unique_ptr<ControlPlane>> prepare(const data::Configuration& configuration);
    ~ControlPlane();
    ControlPlane(const ControlPlane&) = delete;
    ControlPlane& operator=(const ControlPlane&) = delete;

    // Called with each chain from now on; must return when every loop has switched to it.
    using Publish = std::function<void(std::shared_ptr<const chain::Snapshot>)>;
    void publishTo(Publish publish) { publish_ = std::move(publish); }
    const std::shared_ptr<const chain::Snapshot>& snapshot() const { return current_.snapshot; }

    // ---- extension modules, for ExtLoader ----
    // Whether a module may come, and what it would have to take.
    base::Result<Admission, module::Refusal> admit(const std::filesystem::path& file, const module::Manifest& manifest,
                                                   const std::string& sha256, bool rollingBack) const;
    void apply(FoundModules found);
    base::Result<void> disable(const std::string& id);
    base::Result<void, module::Refusal> rollBack(PreparedModule prepared, const std::string& reason);
    void refuseRollBack(const std::string& id, const std::string& reason, const module::Refusal& refusal);
    base::Result<void> withdraw(const std::string& id, const std::string& reason);
    // Shows other threads the modules, with what they have failed, as they are now.
    void refreshModules();
    ExtModules& extensions() { return *extensions_; }
    module::StagingDirectory& staging() { return *staging_; }
    module::LoadLedger& ledger() { return *ledger_; }
    const weir_host& host() const { return host_; }
    upstream::ServerRegistry& servers() { return services_.servers; }

    // Edits a copy of the data; takes it when the plugins accept it, else says why not and leaves everything as it was.
    using Edit = std::function<base::Result<void>(data::DataStore&)>;
    base::Result<void> change(const Edit& edit);

    // What changes have replaced, kept so far because freeing it takes as long as many a change.
    void freeReplaced() { retired_.clear(); }

    std::vector<std::string> takeWarnings() { return std::exchange(warnings_, {}); }

    // ---- any thread ----
    std::vector<manage::ModuleStatus> modules() const;
    const PluginMetrics& metrics() const { return metrics_; }
    // What happened to a module, oldest first.
    std::vector<manage::ModuleEvent> history(const std::string& id) const;
    std::shared_ptr<const data::DataStore> store() const;
    std::shared_ptr<const manage::WaitingEntries> waiting() const;
    const upstream::ServerRegistry& servers() const { return services_.servers; }
    const upstream::SetCatalog& sets() const { return services_.sets; }

private:
    explicit ControlPlane(std::uint32_t loops) : metrics_(loops), host_(services_) {}
    base::Result<void> loadCore(const config::Settings& settings);
    base::Result<void> loadData(const data::Configuration& configuration);
    base::Result<void> loadSelected(const module::ModuleCatalog& catalog);
    base::Result<void> take(const module::Provided& provided, const std::shared_ptr<module::LoadedModule>& module);
    base::Result<BuiltChain> build(const ExtModules::Parts& extensions,
                                   const std::shared_ptr<const data::DataStore>& store) const;
    void use(BuiltChain built);
    void tellHandlers();
    ExtModules::Try accepting(std::optional<BuiltChain>& accepted) const;
    std::vector<std::string> balancerNames() const;
    void useExtensions(std::optional<BuiltChain> accepted);
    void show(std::shared_ptr<const data::DataStore> store);

    std::filesystem::path snapshotFile_;  // empty: none
    std::vector<std::string> warnings_;
    std::set<std::string> warned_;  // each is said once
    std::unique_ptr<module::StagingDirectory> staging_;
    mutable PluginMetrics metrics_;  // counts what chains do, which are built of it unchanged
    chain::ControlServices services_;
    chain::HostTable host_;
    std::vector<std::shared_ptr<PluginInstance>> core_;
    std::vector<std::shared_ptr<DataHandler>> coreHandlers_;
    std::vector<MatchPart> coreMatching_;
    match::Order order_ = match::Order::Best;
    std::vector<manage::ModuleStatus> coreModules_;
    std::unique_ptr<module::LoadLedger> ledger_;
    std::unique_ptr<ExtModules> extensions_;
    BuiltChain current_;
    std::vector<std::shared_ptr<const void>> retired_;
    Publish publish_;
    std::vector<std::shared_ptr<DataHandler>> handlers_;  // that have been told the data in force
    mutable std::mutex shownMutex_;                       // of what other threads may read
    std::vector<manage::ModuleStatus> modules_;
    std::vector<ExtModules::Draining> draining_;
    std::map<std::string, std::deque<manage::ModuleEvent>> history_;
    std::shared_ptr<const data::DataStore> store_;
    std::shared_ptr<const manage::WaitingEntries> waiting_;
};

}  // namespace weir::gateway
