#pragma once

#include <string>

#include "weir/fields.hpp"

namespace weir::context_path {

// ShenYu's rule handle. Blank texts count as absent.
struct ContextPathHandle {
    std::string contextPath;
    std::string addPrefix;
    bool addPrefixed = false;
    std::string rewriteContextPath;
    int percentage = 100;
    static constexpr auto fields = weir::fields(
        weir::field("contextPath", &ContextPathHandle::contextPath).about("cut from the front of the path"),
        weir::field("addPrefix", &ContextPathHandle::addPrefix).about("put in front of what is left"),
        weir::field("addPrefixed", &ContextPathHandle::addPrefixed)
            .about("keep contextPath in front of what is left, when there is no addPrefix"),
        weir::field("rewriteContextPath", &ContextPathHandle::rewriteContextPath)
            .about("later plugins match as if this were the context path"),
        weir::field("percentage", &ContextPathHandle::percentage)
            .range(0, 100)
            .about("of the requests that get rewriteContextPath"));

    bool hasContextPath = false;  // set when the handle is prepared: "/" loses its slash and yet is one
};

}  // namespace weir::context_path
