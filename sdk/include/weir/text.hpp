#pragma once

#include <string_view>

#include "weir/abi.h"

namespace weir::detail {

inline weir_str str(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(weir_str text) { return text.data ? std::string_view(text.data, text.size) : std::string_view(); }

// The host's services: the one mutable static of a module, set when its first plugin is created.
inline const weir_host* hostTable = nullptr;

}  // namespace weir::detail
