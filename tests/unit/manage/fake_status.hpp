#pragma once

#include <atomic>
#include <chrono>

#include "manage/status_source.hpp"

namespace weir::manage {

// A time that reads 2026-11-30T00:00:00Z.
inline constexpr std::chrono::system_clock::time_point kMidnight{std::chrono::seconds(1795996800)};

inline ModuleStatus::Key pluginKey(const std::string& key, int order, ModuleState state) {
    module::Provided provided;
    provided.interface = module::kPluginInterface;
    provided.key = key;
    provided.order = order;
    return {provided, state};
}

// A module of one plugin, named after it.
inline ModuleStatus pluginModule(const std::string& name, int order, ModuleState state = ModuleState::Active) {
    ModuleStatus module;
    module.state = state;
    module.id = name;
    module.version = "0.1.0";
    module.keys = {pluginKey(name, order, state)};
    module.file = "/m/" + name + ".so";
    module.generation = state == ModuleState::Refused ? 0 : 1;
    module.since = kMidnight;
    return module;
}

// A module with one load balancer.
inline ModuleStatus balancerModule() {
    ModuleStatus module = pluginModule("load-balancer", 0);
    module.keys[0].provided = {};
    module.keys[0].provided.interface = module::kLoadBalancerInterface;
    module.keys[0].provided.key = "hash";
    return module;
}

// Serves with two modules.
struct FakeStatus final : StatusSource {
    std::atomic<ServingState> now{ServingState::Up};
    std::vector<ModuleStatus> found = {pluginModule("global", -1), balancerModule()};  // not while another thread asks
    std::vector<std::string> missing;
    std::vector<Holder> held;
    Traffic counted;

    ServingState state() const override { return now; }
    std::string serverAddress() const override { return "127.0.0.1"; }
    std::uint16_t serverPort() const override { return now == ServingState::Starting ? 0 : 9195; }
    std::vector<ModuleStatus> modules() const override { return found; }
    std::vector<std::string> missingModules() const override { return missing; }
    std::vector<Holder> holders() const override { return held; }
    Traffic traffic() const override { return counted; }
};

}  // namespace weir::manage
