#pragma once

#include <string_view>

namespace weir::cross {

// An origin (RFC 6454 6.2: scheme://host[:port]) without a port that is the scheme's own, as browsers write it.
std::string_view withoutDefaultPort(std::string_view origin);

// Whether a request that came for `host` (its Host field) over plain HTTP has this very origin.
bool isOwnOrigin(std::string_view origin, std::string_view host);

}  // namespace weir::cross
