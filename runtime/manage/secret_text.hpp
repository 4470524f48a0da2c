#pragma once

#include <string_view>

namespace weir::manage {

// Takes as long for a text that is nearly right as for any other of that length.
inline bool sameSecret(std::string_view given, std::string_view secret) {
    if (secret.empty()) return false;
    unsigned different = given.size() == secret.size() ? 0 : 1;
    for (std::size_t i = 0; i < given.size(); ++i) {
        different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i % secret.size()]);
    }
    return different == 0;
}

}  // namespace weir::manage
