#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/arena.hpp"

namespace weir::http {

// gzip, x-gzip, deflate, identity, or none ("").
bool isKnownCoding(std::string_view coding);

// The bytes of a body in the content coding that Content-Encoding names (RFC 9110 8.4.1). nullopt: one that is not
// known, or several; malformed; more than `limit` bytes. Views live as long as the arena, or, when nothing was coded, as
// `body`.
std::optional<std::string_view> decodeContent(base::Arena& arena, std::string_view coding, std::string_view body,
                                              std::size_t limit);

}  // namespace weir::http
