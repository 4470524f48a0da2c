#pragma once

#include "base/arena.hpp"
#include "config/settings.hpp"
#include "http/message_parser.hpp"

namespace weir::http {

// What becomes of spellings that name the same thing for some servers and another for others. Done once, before
// anything is decided: what is matched is what is forwarded.
struct PathPolicy {
    using Dots = config::DotSegments;
    using Slashes = config::DoubleSlashes;
    using Encoded = config::EncodedSlashes;

    Dots dots = Dots::Resolve;             // "." and ".." segments, also with "%2e" (RFC 3986 5.2.4, 6.2.2)
    Slashes slashes = Slashes::Keep;       // "//"
    Encoded encoded = Encoded::Keep;       // "%2f" and "%5c"; decoded to '/' and '\' before the rest is looked at
};

// Applies the policy to path and target of a request. What it refuses, and a ".." that leads above the root, is 400.
// A path that is as it should be is not copied. Linear in the path's length.
ParseError normalizePath(RequestHead& head, base::Arena& arena, const PathPolicy& policy);

}  // namespace weir::http
