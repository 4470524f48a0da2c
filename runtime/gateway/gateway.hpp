#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "chain/worker_pool.hpp"
#include "data/configuration.hpp"
#include "gateway/configuration_watch.hpp"
#include "gateway/control_plane.hpp"
#include "gateway/control_thread.hpp"
#include "gateway/directory_watch.hpp"
#include "gateway/ext_loader.hpp"
#include "gateway/gateway_loop.hpp"
#include "manage/data_control.hpp"
#include "manage/explain_control.hpp"
#include "manage/module_control.hpp"
#include "manage/upstream_page.hpp"
#include "upstream/health_check.hpp"

namespace weir::gateway {

// The running gateway: the control plane on its thread, the loops on theirs. Made, started, stopped and destroyed by
// one thread, which is the control thread until start().
class Gateway final : public manage::DataControl,
                      public manage::ModuleControl,
                      public manage::ExplainControl,
                      public manage::UpstreamSource {
public:
    // Loads the core modules, prepares the data, builds the first chain; opens no port. Errors are the operator's.
    static base::Result<std::unique_ptr<Gateway>> prepare(data::Configuration configuration);
    ~Gateway() override;
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // Reads the configuration's files; the second gets which ones, whatever came of it.
    using Load = std::function<base::Result<data::Configuration>(data::SourceFiles&)>;
    // Before start(), for a gateway that takes changes over: how, on the control thread, and what was read the first
    // time.
    void reloadBy(Load load, data::SourceFiles read);
    // Looks at the ext directory, then binds the data port and starts the threads. Requests are written to `accessLog`,
    // which outlives the gateway; null: nowhere.
    base::Result<void> start(AccessLog* accessLog);
    // Drains: no new connections, requests that run may end, at most server.drainTimeout. Returns when all loops ended.
    void stop();

    const config::Settings& settings() const { return configuration_.settings; }

    // ---- any thread ----
    enum class State { Starting, Up, Draining };
    State state() const { return state_.load(); }
    std::uint16_t port() const { return port_.load(); }  // 0 before start
    std::vector<manage::ModuleStatus> modules() const;
    std::vector<std::string> missingModules() const;  // of extPlugin.required
    std::vector<manage::Holder> holders() const;
    manage::Traffic traffic() const;

    // DataControl: while the state is Up.
    base::Result<void> change(const std::function<base::Result<void>(data::DataStore&)>& edit) override;
    void read(const std::function<void(const data::DataStore&)>& look) const override;
    std::shared_ptr<const manage::WaitingEntries> waiting() const override { return plane_->waiting(); }
    // Takes the files' data over, as the watch does when their content changes. Settings wait for a restart.
    void reload();

    // ModuleControl: while the state is Up.
    base::Result<void> act(const std::string& id, Action action) override;
    std::vector<manage::ModuleEvent> history(const std::string& id) const override { return plane_->history(id); }
    base::Result<module::ProbeReport, module::Refusal> validate(const std::string& bytes) override;
    base::Result<std::string, module::Refusal> install(std::string bytes,
                                                       std::optional<std::string> signature) override;
    // ExplainControl: while the state is Up.
    base::Result<base::Value> explain(const manage::ExplainRequest& request) override;
    // UpstreamSource.
    std::vector<std::shared_ptr<const upstream::SetCatalog::Set>> upstreamSets() const override {
        return plane_->sets().sets();
    }
    std::shared_ptr<const upstream::AddressList> addressesOf(const upstream::Server& server) const override {
        return plane_->servers().addresses(server);
    }
    // Before start(), without extension modules.
    base::Result<base::Value> explainUnstarted(const manage::ExplainRequest& request) const;
    // A module's code hangs in a thread that can not be ended: end the program without taking it apart.
    bool hasHungLoad() const { return loader_ && !loader_->hanging().empty(); }

    struct Counts {
        std::size_t plugins, selectors, rules;
    };
    Counts counts() const;                    // of the configuration
    std::vector<std::string> takeWarnings();  // before start

private:
    explicit Gateway(data::Configuration configuration) : configuration_(std::move(configuration)) {}

    base::Result<void> startLoops(AccessLog* accessLog);
    void followUpstreams();
    void publish(const std::shared_ptr<const chain::Snapshot>& snapshot);
    void takeBack(std::shared_ptr<const chain::Snapshot> snapshot);
    void freeReturned();
    void takeFiles(bool always);
    void takeData(const data::Configuration& configuration);
    base::Result<void> actNow(const std::string& id, Action action);
    void onControl(const std::function<void()>& function);
    template <class F>
    std::optional<std::invoke_result_t<F&>> callOn(const std::unique_ptr<ControlThread>& thread, F function);
    void checkModules();
    void scan();
    void scanSoon(std::chrono::milliseconds delay);
    void scheduleScan();

    data::Configuration configuration_;
    std::unique_ptr<ControlPlane> plane_;
    std::mutex explaining_;  // one at a time: a plugin may hold the management's thread
    std::mutex returnedMutex_;
    std::vector<std::shared_ptr<const chain::Snapshot>> returned_;  // by loops, to be freed by the control thread
    std::atomic<std::uint32_t> connections_{0};
    std::unique_ptr<chain::WorkerPool> workers_;
    std::vector<std::unique_ptr<GatewayLoop>> loops_;
    std::vector<std::thread> threads_;
    std::unique_ptr<upstream::HealthCheck> healthCheck_;  // null: upstreamCheck.enabled is false
    std::unique_ptr<ControlThread> control_;
    std::unique_ptr<ExtLoader> loader_;        // null: no ext directory
    std::unique_ptr<ControlThread> modules_;   // the loader's thread
    std::unique_ptr<DirectoryWatch> watch_;
    Load load_;
    data::SourceFiles read_;                                  // by the last load; control thread
    std::unique_ptr<ConfigurationWatch> configurationWatch_;  // control thread
    std::atomic<bool> scanQueued_{false};
    std::atomic<State> state_{State::Starting};
    std::atomic<std::uint16_t> port_{0};
};

}  // namespace weir::gateway
