#include "upstream_load.hpp"

#include <cmath>
#include <map>
#include <string>

namespace weir::balance {

void UpstreamLoad::ended(std::uint64_t latencyNs, bool failed, std::uint64_t nowNs) noexcept {
    inFlight.fetch_sub(1, std::memory_order_relaxed);
    if (latencyNs == 0 && !failed) return;
    const auto sample = static_cast<double>(failed ? std::max(latencyNs, kFailureNs) : latencyNs);
    const std::uint64_t before = answeredNs.exchange(nowNs, std::memory_order_relaxed);
    const auto old = static_cast<double>(lagNs.load(std::memory_order_relaxed));
    const double passed = nowNs > before ? static_cast<double>(nowNs - before) : 0;  // another loop may be ahead
    const double kept = old == 0 ? 0 : std::exp(-passed / kMemoryNs);
    lagNs.store(static_cast<std::uint64_t>(old * kept + sample * (1 - kept)), std::memory_order_relaxed);
}

UpstreamLoads loadsOf(const std::vector<Upstream>& upstreams) {
    static std::map<std::string, std::weak_ptr<UpstreamLoad>> known;
    UpstreamLoads loads;
    for (const Upstream& one : upstreams) {
        const std::string name = one.protocol + one.url;
        std::shared_ptr<UpstreamLoad> load = known[name].lock();
        if (!load) {
            load.reset(new UpstreamLoad, [name](UpstreamLoad* ended) {
                known.erase(name);
                delete ended;
            });
            known[name] = load;
        }
        loads.push_back(std::move(load));
    }
    return loads;
}

}  // namespace weir::balance
