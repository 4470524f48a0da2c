#include "upstream/upstream_set.hpp"

#include <algorithm>
#include <array>

#include "base/steady_clock.hpp"
#include "upstream/control_error.hpp"

namespace weir::upstream {

namespace {

// One bit per index, as weir_pick.excluded. Sets are small: few are on the heap.
class IndexSet {
public:
    // Begins as a copy of `words`; null: empty.
    IndexSet(std::size_t size, const std::uint64_t* words) {
        const std::size_t count = (size + 63) / 64;
        if (count > few_.size()) many_.resize(count);
        if (words) std::copy_n(words, count, data());
    }
    void add(std::size_t index) { data()[index / 64] |= std::uint64_t{1} << (index % 64); }
    const std::uint64_t* words() const { return many_.empty() ? few_.data() : many_.data(); }

private:
    std::uint64_t* data() { return many_.empty() ? few_.data() : many_.data(); }

    std::array<std::uint64_t, 4> few_{};
    std::vector<std::uint64_t> many_;
};

}  // namespace

std::optional<std::uint32_t> BalancerRegistry::find(std::string_view key) const {
    for (std::size_t i = 0; i < balancers_.size(); ++i)
        if (balancers_[i].key == key) return static_cast<std::uint32_t>(i);
    return std::nullopt;
}

base::Result<std::unique_ptr<UpstreamSet>> UpstreamSet::make(std::span<const weir_upstream> upstreams,
                                                             const BalancerRegistry& balancers,
                                                             ServerRegistry& servers, SetCatalog& catalog) {
    std::unique_ptr<UpstreamSet> set(new UpstreamSet);
    std::vector<SetCatalog::Listed> listed;
    std::vector<weir_upstream> usable;
    for (const weir_upstream& one : upstreams) {
        const std::string_view protocol(one.protocol.data, one.protocol.size);
        if (!protocol.empty() && protocol != "http://") {
            return base::Error{base::ErrorCode::Unsupported, "",
                               "protocol '" + std::string(protocol) + "' is not supported, only http:// is"};
        }
        auto server = servers.get(std::string(one.url.data, one.url.size), one.status != WEIR_UPSTREAM_UNCHECKED);
        if (!server.ok()) return std::move(server).error();
        listed.push_back({std::string(protocol), one.weight, one.status != WEIR_UPSTREAM_OFF, one.gray != 0, *server});
        if (!one.status || one.weight == 0) continue;
        set->servers_.push_back(std::move(server).value());
        usable.push_back(one);
    }
    set->listed_ = catalog.add(std::move(listed));
    if (usable.empty()) return set;
    set->out_ = set->servers_.front()->state.out;
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

int UpstreamSet::pick(std::uint32_t balancer, const weir_pick& request, bool& trial) const {
    trial = false;
    if (balancer >= states_.size()) return -1;  // also when no upstream is usable
    if (out_->load(std::memory_order_relaxed) == 0) return ask(balancer, request);
    return pickAmongSound(balancer, request, trial);
}

int UpstreamSet::ask(std::uint32_t balancer, const weir_pick& request) const {
    const int index = states_[balancer].balancer.table->pick(states_[balancer].state, &request);
    return index >= 0 && static_cast<std::size_t>(index) < servers_.size() ? index : -1;
}

// Somebody in the process is out, perhaps of these.
int UpstreamSet::pickAmongSound(std::uint32_t balancer, const weir_pick& request, bool& trial) const {
    const std::uint64_t nowNs = base::steadyNs();
    IndexSet unhealthy(servers_.size(), request.excluded);
    for (std::size_t i = 0; i < servers_.size(); ++i)
        if (servers_[i]->state.unhealthy.load(std::memory_order_relaxed)) unhealthy.add(i);
    IndexSet out(unhealthy);
    for (std::size_t i = 0; i < servers_.size(); ++i)
        if (servers_[i]->state.resting(nowNs)) out.add(i);

    weir_pick sound = request;
    for (std::size_t tries = 0; tries < servers_.size(); ++tries) {
        sound.excluded = out.words();
        const int index = ask(balancer, sound);
        if (index < 0) break;
        ServerState& state = server(index)->state;
        if (!state.ejected()) return index;
        trial = state.takeTrial(nowNs);
        if (trial) return index;
        done(balancer, index, 0, false);  // another loop has it on trial
        out.add(static_cast<std::size_t>(index));
    }
    sound.excluded = unhealthy.words();
    return ask(balancer, sound);
}

bool UpstreamSet::takeRetry(const RetryBudget& budget) const {
    std::uint64_t calls = 0;
    for (const auto& server : servers_) calls += server->state.inFlight.load(std::memory_order_relaxed);
    const std::uint64_t most = std::max<std::uint64_t>(budget.minConcurrent, calls * budget.percent / 100);
    if (retries_.fetch_add(1, std::memory_order_relaxed) < most) return true;
    giveRetry();
    return false;
}

void UpstreamSet::done(std::uint32_t balancer, int index, std::uint64_t latencyNs, bool failed) const {
    if (!wantsDone(balancer)) return;
    states_[balancer].balancer.table->done(states_[balancer].state, index, latencyNs, failed);
}

}  // namespace weir::upstream
