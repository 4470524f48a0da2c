#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "weir/abi.h"

namespace weir::probe {

// The host table that a module gets on trial. What belongs to the control thread works as in the gateway, except that
// no load balancer is called and no name is looked up; what belongs to a loop answers nothing. Log lines go to standard
// error. Outlives the module.
struct ProbeHost : weir_host {
    // `loadBalancers`: the names that data may use.
    explicit ProbeHost(std::vector<std::string> loadBalancers);

    std::vector<std::string> balancers;
    std::map<std::string, std::uint32_t, std::less<>> attributeIds;
};

}  // namespace weir::probe
