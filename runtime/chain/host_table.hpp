#pragma once

#include <map>
#include <string>

#include "upstream/balancer_registry.hpp"
#include "upstream/server_registry.hpp"
#include "upstream/set_catalog.hpp"
#include "weir/abi.h"

namespace weir::chain {

// What the control thread offers to modules behind the host table. Control thread only.
struct ControlServices {
    upstream::BalancerRegistry balancers;
    upstream::ServerRegistry servers;
    upstream::SetCatalog sets;
    std::map<std::string, std::uint32_t, std::less<>> attributeIds;
};

// The gateway's services as modules see them. One per gateway; outlives every module.
struct HostTable : weir_host {
    explicit HostTable(ControlServices& services);

    ControlServices& control;
};

}  // namespace weir::chain
