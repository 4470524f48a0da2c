#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "manage/data_control.hpp"
#include "manage/status_source.hpp"

namespace weir::manage {

// The body of one of ShenYu's read-only dumps (fact sheet 10.3): under /actuator/ plugins, pluginData, selectorData,
// ruleData, metadata, metadataCache, selectorMatchCache and ruleMatchCache, each a list with one map keyed like
// ShenYu's cache, and info, a map. Records of a plugin that no module provides have `"waiting": true`. nullopt: no such dump. No
// app auth, so no secrets of it. Any thread.
std::optional<std::string> dataPage(std::string_view path, const StatusSource& source, const DataControl& control);

}  // namespace weir::manage
