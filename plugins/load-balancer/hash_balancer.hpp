#pragma once

#include <cstdint>
#include <vector>

#include "weir/load_balancer.hpp"

namespace weir::balance {

// Keeps a client address on one upstream: ShenYu's ring of five MD5 places for each upstream. Weights do not count.
class HashBalancer final : public LoadBalancer {
public:
    explicit HashBalancer(const std::vector<Upstream>& upstreams);
    int pick(const PickRequest& request) noexcept override;

private:
    struct Place {
        std::uint32_t hash;
        std::uint32_t index;
    };
    std::vector<Place> ring_;  // ascending, no two equal
};

}  // namespace weir::balance
