#include "counting_balancer.hpp"

namespace weir::balance {

CountingBalancer::CountingBalancer(const std::vector<Upstream>& upstreams, const Clock& clock)
    : loads_(loadsOf(upstreams)), clock_(clock) {}

void CountingBalancer::done(int index, std::uint64_t latencyNs, bool failed) noexcept {
    load(static_cast<std::size_t>(index)).ended(latencyNs, failed, now());
}

}  // namespace weir::balance
