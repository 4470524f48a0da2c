#pragma once

#include <string>

#include "manage/traffic.hpp"

namespace weir::manage {

// The metrics of requests, connections and loops, in the text format 0.0.4.
void writeTraffic(std::string& out, const Traffic& traffic);

}  // namespace weir::manage
