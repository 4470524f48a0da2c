#include "upstream/upstream_set.hpp"

#include "upstream/control_error.hpp"

namespace weir::upstream {

std::optional<std::uint32_t> BalancerRegistry::find(std::string_view key) const {
    for (std::size_t i = 0; i < balancers_.size(); ++i)
        if (balancers_[i].key == key) return static_cast<std::uint32_t>(i);
    return std::nullopt;
}

base::Result<std::unique_ptr<UpstreamSet>> UpstreamSet::make(std::span<const weir_upstream> upstreams,
                                                             const BalancerRegistry& balancers,
                                                             ServerRegistry& servers) {
    std::unique_ptr<UpstreamSet> set(new UpstreamSet);
    std::vector<weir_upstream> usable;
    for (const weir_upstream& one : upstreams) {
        const std::string_view protocol(one.protocol.data, one.protocol.size);
        if (!protocol.empty() && protocol != "http://") {
            return base::Error{base::ErrorCode::Unsupported, "",
                               "protocol '" + std::string(protocol) + "' is not supported, only http:// is"};
        }
        auto server = servers.get(std::string(one.url.data, one.url.size));
        if (!server.ok()) return std::move(server).error();
        if (!one.status || one.weight == 0) continue;
        set->servers_.push_back(std::move(server).value());
        usable.push_back(one);
    }
    if (usable.empty()) return set;
    set->states_.reserve(balancers.all().size());  // a state that was made always finds its place
    for (const BalancerRegistry::Balancer& balancer : balancers.all()) {
        weir_error error;
        void* state = nullptr;
        if (balancer.table->create(balancer.host, usable.data(), usable.size(), &state, &error) != WEIR_OK) {
            return base::Error{base::ErrorCode::InvalidConfig, "",
                               "load balancer '" + balancer.key + "': " + error.text};
        }
        set->states_.push_back({balancer, state});
    }
    return set;
}

UpstreamSet::~UpstreamSet() {
    for (State& one : states_) one.balancer.table->destroy(one.state);
}

int UpstreamSet::pick(std::uint32_t balancer, const weir_pick& request) const {
    if (balancer >= states_.size()) return -1;  // also when no upstream is usable
    const int index = states_[balancer].balancer.table->pick(states_[balancer].state, &request);
    return index >= 0 && static_cast<std::size_t>(index) < servers_.size() ? index : -1;
}

void UpstreamSet::done(std::uint32_t balancer, int index, std::uint64_t latencyNs, bool failed) const {
    if (!wantsDone(balancer)) return;
    states_[balancer].balancer.table->done(states_[balancer].state, index, latencyNs, failed);
}

}  // namespace weir::upstream
