#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "chain/host_table.hpp"
#include "chain/worker_pool.hpp"
#include "data/configuration.hpp"
#include "gateway/gateway_loop.hpp"
#include "gateway/plugin_instance.hpp"
#include "module/catalog.hpp"
#include "module/staging_directory.hpp"

namespace weir::gateway {

// Where core modules and their SPI index are: what the settings say, else <program>/../lib/weir/plugins and its spi.
struct ModulePaths {
    explicit ModulePaths(const config::Settings& settings);

    std::filesystem::path modules;
    std::filesystem::path spi;
};

// The running gateway: modules, data, loops. The thread that calls prepare, start, stop and the destructor is the control
// thread; the modules' control functions run on it.
class Gateway {
public:
    // Loads the modules, prepares the data, builds the first snapshot; opens no port. Errors are the operator's.
    static base::Result<std::unique_ptr<Gateway>> prepare(data::Configuration configuration);
    ~Gateway();
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // Binds the data port and starts the loops' threads.
    base::Result<void> start();
    // Drains: no new connections, requests that run may end, at most server.drainTimeout. Returns when all loops ended.
    void stop();

    const config::Settings& settings() const { return configuration_.settings; }
    const std::vector<std::string>& warnings() const { return warnings_; }

    // ---- any thread ----
    enum class State { Starting, Up, Draining };
    State state() const { return state_.load(); }
    std::uint16_t port() const { return port_.load(); }  // 0 before start

    struct Row {
        std::string interface, key, order, module, version, state;
    };
    const std::vector<Row>& rows() const { return rows_; }  // does not change after prepare

    struct Counts {
        std::size_t plugins, selectors, rules;
    };
    Counts counts() const;

private:
    explicit Gateway(data::Configuration configuration);
    base::Result<void> loadModules();
    base::Result<void> loadSelected(const module::ModuleCatalog& catalog);

    data::Configuration configuration_;
    std::vector<std::string> warnings_;
    std::vector<Row> rows_;
    std::unique_ptr<module::StagingDirectory> staging_;
    chain::ControlServices services_;
    chain::HostTable host_;
    std::vector<std::shared_ptr<PluginInstance>> plugins_;
    std::shared_ptr<const chain::Snapshot> snapshot_;
    std::mutex returnedMutex_;
    std::vector<std::shared_ptr<const chain::Snapshot>> returned_;  // by loops, to be freed by the control thread
    std::atomic<std::uint32_t> connections_{0};
    std::unique_ptr<chain::WorkerPool> workers_;
    std::vector<std::unique_ptr<GatewayLoop>> loops_;
    std::vector<std::thread> threads_;
    std::atomic<State> state_{State::Starting};
    std::atomic<std::uint16_t> port_{0};
};

}  // namespace weir::gateway
