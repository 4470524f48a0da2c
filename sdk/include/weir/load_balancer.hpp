#pragma once

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

// Picks one upstream of a fixed set. Constructed on the control thread from the usable upstreams (at least one; weight
// 0 and status false are already out); a changed set is a new object. pick and done run on several loops at once.
class LoadBalancer {
public:
    virtual ~LoadBalancer() = default;
    // An index into the set; -1 when every upstream is excluded. Must not block.
    virtual int pick(const PickRequest& request) noexcept = 0;
    // The picked upstream has sent its response head, or failed, after `latencyNs`. Override only when wanted: calls
    // are timed for balancers that do.
    virtual void done(int /*index*/, std::uint64_t /*latencyNs*/, bool /*failed*/) noexcept {}
};

}  // namespace weir
