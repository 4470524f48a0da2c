#pragma once

#include <string>

#include "weir/fields.hpp"

namespace weir::context_path {

// ShenYu's rule handle. Blank texts count as absent.
struct ContextPathHandle {
    std::string contextPath;         // cut from the front of the path
    std::string addPrefix;           // put in front of what is left
    bool addPrefixed = false;        // keep contextPath in front of what is left (when there is no addPrefix)
    std::string rewriteContextPath;  // later plugins match as if this were the context path
    int percentage = 100;            // of the requests that get rewriteContextPath
    static constexpr auto fields = weir::fields(
        weir::field("contextPath", &ContextPathHandle::contextPath),
        weir::field("addPrefix", &ContextPathHandle::addPrefix),
        weir::field("addPrefixed", &ContextPathHandle::addPrefixed),
        weir::field("rewriteContextPath", &ContextPathHandle::rewriteContextPath),
        weir::field("percentage", &ContextPathHandle::percentage).range(0, 100));

    bool hasContextPath = false;  // set when the handle is prepared: "/" loses its slash and yet is one
};

}  // namespace weir::context_path
