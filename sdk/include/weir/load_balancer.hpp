#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "weir/host.hpp"

namespace weir {

// What a pick may depend on.
struct PickRequest {
    std::string_view clientAddress;
    const std::uint64_t* excluded;  // one bit per index; null: none

    bool isExcluded(std::size_t index) const { return excluded && (excluded[index / 64] >> (index % 64) & 1); }
};

// An upstream's weight at a moment, `nowMs` since 1970: between timestampMs and warmupMs later it grows from 1 to the
// whole weight, in the single precision of ShenYu's formula. A balancer that uses weights asks for it at each pick.
inline std::uint32_t effectiveWeight(const Upstream& upstream, std::int64_t nowMs) noexcept {
    if (!upstream.status) return 0;
    if (upstream.weight == 0 || upstream.timestampMs <= 0 || nowMs <= upstream.timestampMs) return upstream.weight;
    const std::int64_t uptime = nowMs - upstream.timestampMs;
    if (uptime >= upstream.warmupMs) return upstream.weight;
    const float step = static_cast<float>(upstream.warmupMs) / static_cast<float>(upstream.weight);
    const auto grown = static_cast<std::uint64_t>(static_cast<float>(uptime) / step);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(grown, 1, upstream.weight));
}

// Picks one upstream of a fixed set. Constructed and destroyed on the control thread, from the usable upstreams (at
// least one; weight 0 and status false are already out); a changed set is a new object. pick and done run on several
// loops at once.
class LoadBalancer {
public:
    virtual ~LoadBalancer() = default;
    // An index into the set; -1 when every upstream is excluded. Must not block.
    virtual int pick(const PickRequest& request) noexcept = 0;
    // Follows each pick of an index exactly once, so that a balancer may count in pick what it takes back here: when
    // the upstream has sent its response head, or has failed, after `latencyNs`. 0 without `failed` says nothing of
    // the upstream: the pick was not carried out (`weir explain`), or the client left before there was an answer.
    // Override only when wanted: calls are timed for balancers that do.
    virtual void done(int /*index*/, std::uint64_t /*latencyNs*/, bool /*failed*/) noexcept {}
};

}  // namespace weir
