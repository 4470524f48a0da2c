#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/value.hpp"
#include "config/variables.hpp"

namespace weir::config {

// Whether a root of the main file is read by readShenyuSettings(): `shenyu` and `server`, also as `shenyu.local`.
bool isShenyuRoot(std::string_view key);

// What the application.yml of a ShenYu gateway says that means the same here, as a flat map of Weir's settings
// (`extPlugin.path`: value) for readSettings(). Names are compared as Spring does: `extPlugin`, `ext-plugin` and
// `ext_plugin` are one; keys without a value say nothing. Each other key is named in a warning with what Weir lacks.
// Values that are taken are expanded, those that are not need no variable. `root` is the file's whole tree. Errors:
// two spellings of one key, a word where true or false belongs.
base::Result<base::Value> readShenyuSettings(const base::Value& root, std::string_view fileName, Variables& variables,
                                             std::vector<std::string>& warnings);

}  // namespace weir::config
