#pragma once

#include <string>
#include <string_view>

namespace weir::base {

// Digests in lower-case hex. Any thread.
std::string sha256Hex(std::string_view bytes);
std::string sha512Hex(std::string_view bytes);

}  // namespace weir::base
