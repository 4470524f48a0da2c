#include "gateway/gateway.hpp"

#include <algorithm>
#include <map>

#include "base/log.hpp"
#include "gateway/chain_builder.hpp"

namespace weir::gateway {

namespace {
constexpr std::size_t kWorkers = 4;  // threads for work that plugins offload: they wait more than they compute

std::filesystem::path programDirectory() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::filesystem::path(".") : program.parent_path();
}
}  // namespace

ModulePaths::ModulePaths(const config::Settings& settings)
    : modules(settings.modules.path.empty() ? (programDirectory() / "../lib/weir/plugins").lexically_normal()
                                            : settings.modules.path),
      spi(settings.modules.spi.empty() ? modules / "spi" : settings.modules.spi) {}

Gateway::Gateway(data::Configuration configuration) : configuration_(std::move(configuration)), host_(services_) {
    warnings_ = configuration_.warnings;
}

Gateway::~Gateway() {
    stop();
    loops_.clear();
    workers_.reset();
    snapshot_.reset();
    returned_.clear();
    plugins_.clear();
    services_.balancers = {};  // the last of the modules go before the host table that they may call
}

base::Result<std::unique_ptr<Gateway>> Gateway::prepare(data::Configuration configuration) {
    std::unique_ptr<Gateway> gateway(new Gateway(std::move(configuration)));
    if (auto loaded = gateway->loadModules(); !loaded.ok()) return std::move(loaded).error();
    auto built = buildChain(gateway->plugins_, gateway->configuration_.data, 1);
    if (!built.ok()) return std::move(built).error();
    gateway->snapshot_ = std::move(built->snapshot);
    gateway->warnings_.insert(gateway->warnings_.end(), built->warnings.begin(), built->warnings.end());
    return gateway;
}

base::Result<void> Gateway::loadModules() {
    const ModulePaths paths(settings());
    const module::ModuleCatalog catalog = module::ModuleCatalog::scan(paths.modules, paths.spi);
    if (!catalog.problems().empty()) return catalog.problems().front();
    auto staging = module::StagingDirectory::create();
    if (!staging.ok()) return std::move(staging).error();
    staging_ = std::move(staging).value();
    for (const module::ModuleCatalog::Entry& entry : catalog.entries()) {
        const bool plugin = entry.provided->interface == module::kPluginInterface;
        rows_.push_back({entry.provided->interface, entry.provided->key,
                         plugin ? std::to_string(entry.provided->order) : "", entry.module->manifest.id,
                         entry.module->manifest.version, std::string(module::toText(entry.state))});
    }
    return loadSelected(catalog);
}

base::Result<void> Gateway::loadSelected(const module::ModuleCatalog& catalog) {
    std::map<std::string, std::shared_ptr<module::LoadedModule>> loaded;
    const auto load = [&](const module::FoundModule& found) -> base::Result<std::shared_ptr<module::LoadedModule>> {
        auto& slot = loaded[found.manifest.id];
        if (slot) return slot;
        auto made = module::LoadedModule::load(found.file, *staging_);
        if (!made.ok()) return std::move(made).error();
        slot = std::move(made).value();
        return slot;
    };
    // Balancers first: the plugins' data refers to them.
    for (const std::string_view interface : {module::kLoadBalancerInterface, module::kPluginInterface}) {
        for (const module::ModuleCatalog::Entry& entry : catalog.entries()) {
            if (entry.state != module::ModuleCatalog::State::Selected) continue;
            if (entry.provided->interface != interface) continue;
            auto module = load(*entry.module);
            if (!module.ok()) return std::move(module).error();
            if (interface == module::kLoadBalancerInterface) {
                const weir_load_balancer* table = (*module)->findLoadBalancer(entry.provided->key);
                if (!table) {
                    return base::Error{base::ErrorCode::InvalidModule, entry.module->file.string(),
                                       "it no longer provides load balancer '" + entry.provided->key +
                                           "': the file was replaced meanwhile"};
                }
                services_.balancers.add({entry.provided->key, table, &host_, *module});
                continue;
            }
            auto instance = PluginInstance::create(*module, *entry.provided, host_);
            if (!instance.ok()) return std::move(instance).error();
            plugins_.push_back(std::move(instance).value());
        }
    }
    return {};
}

base::Result<void> Gateway::start() {
    const config::Settings::Server& server = settings().server;
    const auto cores = std::max(1u, std::thread::hardware_concurrency());
    const std::uint32_t count = server.threads > 0 ? static_cast<std::uint32_t>(server.threads) : cores;
    workers_ = std::make_unique<chain::WorkerPool>(kWorkers);
    for (std::uint32_t i = 0; i < count; ++i) {
        auto loop = std::make_unique<GatewayLoop>(i, settings(), *workers_, connections_,
                                                  [this](std::shared_ptr<const chain::Snapshot> snapshot) {
                                                      std::lock_guard lock(returnedMutex_);
                                                      returned_.push_back(std::move(snapshot));
                                                  });
        loop->context.switchTo(snapshot_);
        auto bound = i == 0 ? loop->acceptor.bind(server.address, static_cast<std::uint16_t>(server.port))
                            : loop->acceptor.bindBeside(loops_.front()->acceptor);
        if (!bound.ok()) {
            loops_.clear();
            return bound;
        }
        loops_.push_back(std::move(loop));
    }
    port_ = loops_.front()->acceptor.boundPort();
    for (const auto& loop : loops_) threads_.emplace_back([&loop = *loop] { loop.run(); });
    state_ = State::Up;
    base::logInfo("listening on " + server.address + ":" + std::to_string(port_) + ", " + std::to_string(count) +
                  (count == 1 ? " event loop" : " event loops"));
    return {};
}

void Gateway::stop() {
    if (threads_.empty()) return;
    state_ = State::Draining;
    for (const auto& loop : loops_) loop->drain(settings().server.drainTimeout);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

Gateway::Counts Gateway::counts() const {
    const data::DataSet& data = configuration_.data;
    return {data.plugins.size(), data.selectors.size(), data.rules.size()};
}

}  // namespace weir::gateway
