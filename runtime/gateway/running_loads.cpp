#include "gateway/running_loads.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace weir::gateway {

namespace {

std::chrono::seconds age(const manage::ModuleStatus& module) {
    const auto lasts = std::chrono::system_clock::now() - module.since;
    return std::max(std::chrono::duration_cast<std::chrono::seconds>(lasts), std::chrono::seconds(0));
}

}  // namespace

RunningLoads::Id RunningLoads::begin(manage::ModuleStatus module) {
    module.state = manage::ModuleState::Hanging;
    module.since = std::chrono::system_clock::now();
    for (manage::ModuleStatus::Key& key : module.keys) key.state = module.state;
    const std::lock_guard lock(mutex_);
    loads_.emplace(++last_, Load{std::move(module)});
    return last_;
}

bool RunningLoads::giveUp(Id id) {
    const std::lock_guard lock(mutex_);
    const auto load = loads_.find(id);
    if (load == loads_.end()) return false;
    load->second.givenUp = true;
    return true;
}

void RunningLoads::end(Id id) {
    const std::lock_guard lock(mutex_);
    const auto load = loads_.find(id);
    const manage::ModuleStatus& module = load->second.module;
    if (load->second.givenUp) {
        base::logWarning("module " + module.id + " (" + module.file + "): its load came back after " +
                         std::to_string(age(module).count()) + " s: too late, it is not used");
    }
    loads_.erase(load);
}

std::vector<manage::ModuleStatus> RunningLoads::hanging() const {
    std::vector<manage::ModuleStatus> hanging;
    const std::lock_guard lock(mutex_);
    for (const auto& [id, load] : loads_)
        if (load.givenUp) hanging.push_back(load.module);
    return hanging;
}

std::optional<std::chrono::seconds> RunningLoads::hangsFor(const std::string& sha256) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, load] : loads_)
        if (load.givenUp && load.module.sha256 == sha256) return age(load.module);
    return std::nullopt;
}

}  // namespace weir::gateway
