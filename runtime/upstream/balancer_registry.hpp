#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/abi.h"

namespace weir::upstream {

// The load balancers that modules provide, by id. Filled on the control thread before any data is prepared; ids stay.
class BalancerRegistry {
public:
    struct Balancer {
        std::string key;
        const weir_load_balancer* table;
        const weir_host* host;
        std::shared_ptr<const void> owner;  // keeps the module loaded
    };

    void add(Balancer balancer) { balancers_.push_back(std::move(balancer)); }
    std::optional<std::uint32_t> find(std::string_view key) const;
    const std::vector<Balancer>& all() const { return balancers_; }

private:
    std::vector<Balancer> balancers_;
};

}  // namespace weir::upstream
