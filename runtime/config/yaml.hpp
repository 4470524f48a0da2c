#pragma once

#include <string_view>

#include "base/value.hpp"

namespace weir::config {

// One YAML document as a Value. An empty text, or one of comments only, is a null Value. Stricter than YAML where
// leniency hides mistakes; refused with fileName, line and column (counted from 1, columns in bytes):
// - text that is not UTF-8, control characters (a UTF-8 BOM and CRLF are fine);
// - tabs as indentation, quotes that are never closed, keys without a colon, a second document;
// - a key twice in one map, also when two merged maps bring it; keys that are not text;
// - aliases that expand to more than 16 MiB, nesting over 64, tags other than those of plain types.
// `<<` merges one map or a list of maps; keys written beside it win. Scalars keep their text and whether they were
// quoted (a block scalar counts as quoted); values that come through an alias keep the place of their anchor.
base::Result<base::Value> parseYaml(std::string_view text, std::string_view fileName);

}  // namespace weir::config
