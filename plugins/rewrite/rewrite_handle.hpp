#pragma once

#include <string>

#include "replacement.hpp"
#include "weir/fields.hpp"
#include "weir/pattern.hpp"

namespace weir::rewrite {

// ShenYu's rule handle. Nothing is rewritten while regex or replace is blank.
struct RewriteHandle {
    std::string regex;             // Java's syntax as far as RE2 has it, with {name} for a segment
    std::string replace;           // $1 and {name} stand for what regex took
    int percentage = 100;          // of the requests that are rewritten
    bool rewriteMetaData = false;  // the metadata, and with it the RPC type, are those of the new path
    static constexpr auto fields = weir::fields(
        weir::field("regex", &RewriteHandle::regex),
        weir::field("replace", &RewriteHandle::replace),
        weir::field("percentage", &RewriteHandle::percentage).range(0, 100),
        weir::field("rewriteMetaData", &RewriteHandle::rewriteMetaData));

    // Made when the handle is prepared.
    Pattern pattern;
    Replacement replacement;
    bool whole = false;  // regex has a {name}: it is for whole paths
};

}  // namespace weir::rewrite
