#pragma once

#include <cstddef>
#include <string_view>

#include "base/arena.hpp"
#include "http/message_parser.hpp"

namespace weir::http {

// uri-host [":" port] (RFC 3986 3.2.2, 3.2.3): not empty, port 0..65535 or nothing behind the colon, an IPv6 address in
// brackets; no userinfo, comma or IPvFuture.
bool isAuthority(std::string_view text);

// How many bytes from the text's first on may stand in a target: 0x21..0x7e without '#'.
std::size_t targetRun(std::string_view text);

// Brings head.target to origin-form or "*" and sets path, query and host. In: method and target as sent, the target of
// bytes that may stand in one, host as the Host field says or data() == nullptr without one.
ParseError settleTarget(RequestHead& head, base::Arena& arena);

}  // namespace weir::http
