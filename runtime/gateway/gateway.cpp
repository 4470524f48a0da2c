#include "gateway/gateway.hpp"

#include <algorithm>
#include <future>
#include <latch>

#include "base/log.hpp"
#include "config/settings_table.hpp"
#include "gateway/explainer.hpp"

namespace weir::gateway {

namespace {
constexpr std::size_t kWorkers = 4;  // threads for work that plugins offload: they wait more than they compute
constexpr std::chrono::milliseconds kScanDelay{20};    // one look for all events of one copy
constexpr std::chrono::milliseconds kRescanDelay{500};  // to what was unsettled
constexpr std::chrono::milliseconds kCheckEvery{500};   // whether a new module fails
constexpr std::chrono::milliseconds kAskLoops{500};
}  // namespace

Gateway::~Gateway() {
    stop();
    loops_.clear();
    workers_.reset();
    returned_.clear();
}

base::Result<std::unique_ptr<Gateway>> Gateway::prepare(data::Configuration configuration) {
    std::unique_ptr<Gateway> gateway(new Gateway(std::move(configuration)));
    auto plane = ControlPlane::prepare(gateway->configuration_);
    if (!plane.ok()) return std::move(plane).error();
    gateway->plane_ = std::move(plane).value();
    return gateway;
}

std::vector<std::string> Gateway::takeWarnings() { return plane_->takeWarnings(); }

Gateway::Counts Gateway::counts() const {
    const data::DataSet& data = configuration_.data;
    return {data.plugins.size(), data.selectors.size(), data.rules.size()};
}

base::Result<void> Gateway::start(AccessLog* accessLog) {
    const bool extensions = settings().extPlugin.enabled;
    bool unsettled = false;
    if (extensions) {
        auto loader = ExtLoader::settingsFor(settings(), ModulePaths(settings()).extensions);
        if (!loader.ok()) return std::move(loader).error();
        loader_ = std::make_unique<ExtLoader>(std::move(loader).value(), *plane_,
                                              [this](const std::function<void()>& function) { onControl(function); });
        unsettled = loader_->scan();
    }
    if (auto started = startLoops(accessLog); !started.ok()) return started;
    plane_->publishTo([this](const std::shared_ptr<const chain::Snapshot>& snapshot) { publish(snapshot); });
    control_ = std::make_unique<ControlThread>();
    if (extensions) {
        modules_ = std::make_unique<ControlThread>();
        watch_ = std::make_unique<DirectoryWatch>(loader_->directory(), [this] { scanSoon(kScanDelay); });
        modules_->postAfter(settings().extPlugin.scheduleDelay, [this] { scheduleScan(); });
        modules_->postAfter(kCheckEvery, [this] { checkModules(); });
        if (unsettled) scanSoon(kRescanDelay);
    }
    if (load_ && settings().data.watch) {
        control_->post([this] {
            const auto changed = [this] { control_->post([this] { takeFiles(false); }); };
            configurationWatch_ = std::make_unique<ConfigurationWatch>(read_, changed);
        });
    }
    state_ = State::Up;
    const config::Settings::Server& server = settings().server;
    base::logInfo("listening on " + server.address + ":" + std::to_string(port_) + ", " +
                  std::to_string(loops_.size()) + (loops_.size() == 1 ? " event loop" : " event loops"));
    return {};
}

base::Result<void> Gateway::startLoops(AccessLog* accessLog) {
    const config::Settings::Server& server = settings().server;
    const std::uint32_t count = GatewayLoop::countFor(settings());
    workers_ = std::make_unique<chain::WorkerPool>(kWorkers);
    for (std::uint32_t i = 0; i < count; ++i) {
        auto loop = std::make_unique<GatewayLoop>(
            i, count, settings(), *workers_, connections_, accessLog,
            [this](std::shared_ptr<const chain::Snapshot> snapshot) { takeBack(std::move(snapshot)); });
        loop->context.switchTo(plane_->snapshot());
        auto bound = i == 0 ? loop->acceptor.bind(server.address, static_cast<std::uint16_t>(server.port))
                            : loop->acceptor.bindBeside(loops_.front()->acceptor);
        if (!bound.ok()) {
            loops_.clear();
            return bound;
        }
        loops_.push_back(std::move(loop));
    }
    port_ = loops_.front()->acceptor.boundPort();
    followUpstreams();
    for (const auto& loop : loops_) threads_.emplace_back([&loop = *loop] { loop.run(); });
    return {};
}

// Each loop hears of the addresses by itself, and connects to what it has heard last: there is nothing to lock, and
// nothing is freed that a loop uses. What is known before a chain is published has been posted before it.
void Gateway::followUpstreams() {
    const config::Settings::UpstreamCheck& check = settings().upstreamCheck;
    if (check.enabled) healthCheck_ = std::make_unique<upstream::HealthCheck>(check, plane_->servers());
    plane_->servers().follow([this](std::uint32_t id, const std::shared_ptr<const upstream::AddressList>& addresses) {
        for (const auto& loop : loops_)
            loop->events.post([&pool = loop->upstreams, id, addresses] { pool.setAddresses(id, addresses); });
    });
}

void Gateway::stop() {
    if (threads_.empty()) return;
    state_ = State::Draining;
    watch_.reset();
    if (loader_) loader_->stop();
    if (modules_) modules_->stop();  // it waits for the control thread, which waits for the loops when it publishes
    control_->stop();
    configurationWatch_.reset();
    for (const auto& loop : loops_) loop->drain(settings().server.drainTimeout);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    plane_->servers().follow({});
    healthCheck_.reset();
    plane_->ledger().servedAll();  // when a load hangs nothing is taken apart, which would say so
}

// ---- Snapshots ----

void Gateway::publish(const std::shared_ptr<const chain::Snapshot>& snapshot) {
    std::latch switched(static_cast<std::ptrdiff_t>(loops_.size()));
    for (const auto& loop : loops_) {
        loop->events.post([&loop = *loop, snapshot, &switched]() mutable {
            loop.context.switchTo(std::move(snapshot));
            switched.count_down();
        });
    }
    switched.wait();
}

// On a loop's thread: only the control thread may drop what may be the last reference to a module.
void Gateway::takeBack(std::shared_ptr<const chain::Snapshot> snapshot) {
    {
        const std::lock_guard lock(returnedMutex_);
        returned_.push_back(std::move(snapshot));
    }
    if (control_) control_->post([this] { freeReturned(); });
}

void Gateway::freeReturned() {
    std::vector<std::shared_ptr<const chain::Snapshot>> returned;
    const std::lock_guard lock(returnedMutex_);
    returned.swap(returned_);
}

// ---- Data ----

// Nothing: the gateway does not take calls now, or has no such thread.
template <class F>
std::optional<std::invoke_result_t<F&>> Gateway::callOn(const std::unique_ptr<ControlThread>& thread, F function) {
    if (state_ != State::Up || !thread) return std::nullopt;
    try {
        return thread->call(std::move(function));
    } catch (const std::future_error&) {  // it stopped meanwhile
        return std::nullopt;
    }
}

base::Result<void> Gateway::change(const std::function<base::Result<void>(data::DataStore&)>& edit) {
    auto changed = callOn(control_, [this, &edit] {
        auto done = plane_->change(edit);
        for (const std::string& warning : plane_->takeWarnings()) base::logWarning(warning);
        control_->post([this] { plane_->freeReplaced(); });  // after the answer
        return done;
    });
    if (changed) return std::move(*changed);
    return base::Error{base::ErrorCode::Io, "", "the gateway is starting or stopping", true};
}

void Gateway::read(const std::function<void(const data::DataStore&)>& look) const { look(*plane_->store()); }

base::Result<base::Value> Gateway::explain(const manage::ExplainRequest& request) {
    const std::unique_lock one(explaining_, std::try_to_lock);
    if (!one) return base::Error{base::ErrorCode::Io, "", "another request is being explained", true};
    auto snapshot = callOn(control_, [this] { return plane_->snapshot(); });
    if (!snapshot) return base::Error{base::ErrorCode::Io, "", "the gateway is starting or stopping", true};
    return gateway::explain(request, std::move(*snapshot), settings(),
                            [this](std::shared_ptr<const chain::Snapshot> done) { takeBack(std::move(done)); });
}

base::Result<base::Value> Gateway::explainUnstarted(const manage::ExplainRequest& request) const {
    return gateway::explain(request, plane_->snapshot(), settings(), [](std::shared_ptr<const chain::Snapshot>) {});
}

// ---- The configuration's files: control thread ----

void Gateway::reloadBy(Load load, data::SourceFiles read) {
    load_ = std::move(load);
    read_ = std::move(read);
}

void Gateway::reload() {
    control_->post([this] { takeFiles(true); });
}

// What comes of files with the same content is the same: not said, not done again.
void Gateway::takeFiles(bool always) {
    data::SourceFiles read;
    auto configuration = load_(read);
    const bool same = read.sameContent(read_);
    read_ = read;
    if (configurationWatch_) configurationWatch_->follow(std::move(read));
    if (same && !always) return;
    if (configuration.ok()) return takeData(*configuration);
    base::logError("reload: " + configuration.error().text() + "; what was in force serves on");
}

void Gateway::takeData(const data::Configuration& configuration) {
    for (const std::string& warning : configuration.warnings) base::logWarning(warning);
    auto taken = plane_->change([&](data::DataStore& store) -> base::Result<void> {
        store.reload(configuration.data);
        return {};
    });
    plane_->freeReplaced();
    for (const std::string& warning : plane_->takeWarnings()) base::logWarning(warning);
    if (!taken.ok()) {
        base::logError("reload: " + taken.error().text() + "; what was in force serves on");
        return;
    }
    base::logInfo("reload: the files' data is in force");
    std::string waiting;
    for (const std::string_view name : config::changedSettings(settings(), configuration.settings)) {
        waiting += (waiting.empty() ? "" : ", ") + std::string(name);
    }
    if (!waiting.empty()) base::logWarning("reload: changed settings are taken at the next start: " + waiting);
}

// ---- Extension modules ----

// Before the control thread is there this one is it.
void Gateway::onControl(const std::function<void()>& function) {
    if (!control_) {
        function();
        plane_->freeReplaced();
        return;
    }
    control_->call([this, &function] {
        function();
        plane_->freeReplaced();
        for (const std::string& warning : plane_->takeWarnings()) base::logWarning(warning);
    });
}

void Gateway::scan() {
    scanQueued_ = false;
    if (loader_->scan()) scanSoon(kRescanDelay);
}

void Gateway::scanSoon(std::chrono::milliseconds delay) {
    if (!scanQueued_.exchange(true)) modules_->postAfter(delay, [this] { scan(); });
}

void Gateway::scheduleScan() {
    scan();
    modules_->postAfter(settings().extPlugin.scheduleTime, [this] { scheduleScan(); });
}

void Gateway::checkModules() {
    loader_->mendFailing();
    modules_->postAfter(kCheckEvery, [this] { checkModules(); });
}

base::Result<void> Gateway::actNow(const std::string& id, Action action) {
    switch (action) {
        case Action::Reload: return loader_->reload(id);
        case Action::Disable: return loader_->disable(id);
        case Action::Enable: return loader_->enable(id);
        case Action::Rollback: return loader_->rollBack(id, "by call");
        case Action::Clear: return loader_->clear(id);
    }
    return {};
}

base::Result<void> Gateway::act(const std::string& id, Action action) {
    auto done = callOn(modules_, [&] { return actNow(id, action); });
    if (done) return std::move(*done);
    return base::Error{base::ErrorCode::Io, "", settings().extPlugin.enabled ? "the gateway is starting or stopping"
                                                                             : "extPlugin.enabled is false", true};
}

base::Result<module::ProbeReport, module::Refusal> Gateway::validate(const std::string& bytes) {
    auto done = callOn(modules_, [&] { return loader_->validate(bytes); });
    if (done) return std::move(*done);
    return module::Refusal{module::RefusalCode::ProbeFailed, {}, "the gateway takes no modules now", {}, {}};
}

base::Result<std::string, module::Refusal> Gateway::install(std::string bytes,
                                                            std::optional<std::string> signature) {
    auto done = callOn(modules_, [&] { return loader_->install(std::move(bytes), std::move(signature)); });
    if (done) return std::move(*done);
    return module::Refusal{module::RefusalCode::ProbeFailed, {}, "the gateway takes no modules now", {}, {}};
}

std::vector<manage::ModuleStatus> Gateway::modules() const {
    std::vector<manage::ModuleStatus> modules = plane_->modules();
    if (state_ == State::Starting || !loader_) return modules;  // the loader may be in the making
    const std::vector<manage::ModuleStatus> hanging = loader_->hanging();
    modules.insert(modules.end(), hanging.begin(), hanging.end());
    return modules;
}

std::vector<std::string> Gateway::missingModules() const {
    std::vector<std::string> missing;
    const std::vector<manage::ModuleStatus> there = modules();
    for (const std::string& id : settings().extPlugin.required) {
        const auto serves = [&](const manage::ModuleStatus& module) {
            return module.id == id && module.state == manage::ModuleState::Active;
        };
        if (std::none_of(there.begin(), there.end(), serves)) missing.push_back(id);
    }
    return missing;
}

manage::Traffic Gateway::traffic() const {
    manage::Traffic traffic;
    if (state_ == State::Starting) return traffic;
    traffic.connections = connections_;
    for (const auto& loop : loops_) loop->addTo(traffic);
    plane_->metrics().addTo(traffic);
    return traffic;
}

std::vector<manage::Holder> Gateway::holders() const {
    struct Answer {
        std::mutex mutex;
        std::vector<manage::Holder> holders;
    };
    if (state_ != State::Up) return {};
    const auto answer = std::make_shared<Answer>();
    const auto waiting = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(loops_.size()));
    for (std::size_t i = 0; i < loops_.size(); ++i) {
        loops_[i]->events.post([&loop = *loops_[i], i, answer, waiting] {
            const std::lock_guard lock(answer->mutex);
            for (const chain::SnapshotPin* pin : loop.context.retired()) {
                answer->holders.push_back({i, pin->snapshot->version, pin->users,
                                           static_cast<double>(loop.events.nowMs() - pin->retiredMs) / 1000});
            }
            waiting->count_down();
        });
    }
    const auto end = std::chrono::steady_clock::now() + kAskLoops;  // one that stops meanwhile does not answer
    while (!waiting->try_wait() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(answer->mutex);
    return answer->holders;
}

}  // namespace weir::gateway
