#pragma once

#include <string>

#include "path_pattern.hpp"
#include "replacement.hpp"
#include "weir/fields.hpp"

namespace weir::rewrite {

// ShenYu's rule handle. Nothing is rewritten while regex or replace is blank.
struct RewriteHandle {
    std::string regex;
    std::string replace;
    int percentage = 100;
    bool rewriteMetaData = false;
    static constexpr auto fields = weir::fields(
        weir::field("regex", &RewriteHandle::regex)
            .about("what is replaced: RE2's syntax, and {name} for a segment of the path"),
        weir::field("replace", &RewriteHandle::replace).about("by what: $1 and {name} stand for what regex took"),
        weir::field("percentage", &RewriteHandle::percentage).range(0, 100).about("of the requests that are rewritten"),
        weir::field("rewriteMetaData", &RewriteHandle::rewriteMetaData)
            .about("take the metadata, and with it the RPC type, of the new path"));

    // Made when the handle is prepared.
    PathPattern pattern;
    Replacement replacement;
};

}  // namespace weir::rewrite
