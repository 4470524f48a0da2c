#pragma once

#include <string_view>

#include "weir/abi.h"

namespace weir::module {

// Texts at the module border. A null pointer reads as an empty text without one.
inline weir_str str(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view view(weir_str text) {
    return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

}  // namespace weir::module
