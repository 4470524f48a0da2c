#pragma once

#include "clock.hpp"
#include "upstream_load.hpp"

namespace weir::balance {

// A balancer that counts what is in flight, and times it.
class CountingBalancer : public LoadBalancer {
public:
    CountingBalancer(const std::vector<Upstream>& upstreams, const Clock& clock);
    void done(int index, std::uint64_t latencyNs, bool failed) noexcept override;

protected:
    std::size_t size() const noexcept { return loads_.size(); }
    UpstreamLoad& load(std::size_t index) const noexcept { return *loads_[index]; }
    std::uint64_t now() const noexcept { return clock_.steadyNs(); }
    // Requests in flight with the one that is about to be sent, as ShenYu's counter that begins at 1.
    std::int64_t inFlightWithThis(std::size_t index) const noexcept {
        return load(index).inFlight.load(std::memory_order_relaxed) + std::int64_t{1};
    }
    int begin(std::size_t index, std::uint64_t nowNs) noexcept {
        load(index).began(nowNs);
        return static_cast<int>(index);
    }

private:
    UpstreamLoads loads_;
    Clock clock_;
};

}  // namespace weir::balance
