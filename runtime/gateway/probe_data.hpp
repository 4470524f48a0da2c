#pragma once

#include <set>
#include <string>

#include "data/data_set.hpp"

namespace weir::gateway {

// The records in force of these plugins, as module::ProbeInput wants them.
std::string probeData(const std::set<std::string>& plugins, const data::DataSet& data);

}  // namespace weir::gateway
