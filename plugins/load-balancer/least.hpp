#pragma once

#include <cstdint>
#include <limits>

#include "random_below.hpp"
#include "weir/load_balancer.hpp"

namespace weir::balance {

// The index below `size`, excluded ones left out, whose cost(index) is least; of equals one at random in proportion to
// weight(index), which is above 0. -1 when all are excluded. One pass: costs change while it goes on.
template <class Cost, class Weight>
int leastOf(std::size_t size, const PickRequest& request, Cost cost, Weight weight) noexcept {
    double least = std::numeric_limits<double>::infinity();
    std::uint64_t total = 0;  // weight of those that cost the least so far
    int best = -1;
    for (std::size_t i = 0; i < size; ++i) {
        if (request.isExcluded(i)) continue;
        const double mine = cost(i);
        if (mine > least) continue;
        if (mine < least) total = 0;
        least = mine;
        const std::uint64_t add = weight(i);
        total += add;
        if (total == add || randomBelow(total) < add) best = static_cast<int>(i);
    }
    return best;
}

}  // namespace weir::balance
