#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/fields.hpp"
#include "weir/json_edits.hpp"

namespace weir::param_mapping {

// ShenYu's rule handle: add, replace, remove, in this order.
struct ParamMappingHandle {
    std::vector<JsonKey> addParameterKeys;
    std::vector<JsonKey> replaceParameterKeys;
    std::vector<std::string> removeParameterKeys;
    std::uint64_t maxBodyBytes = 4 << 20;
    static constexpr auto fields = weir::fields(
        weir::field("addParameterKeys", &ParamMappingHandle::addParameterKeys)
            .about("members or fields to put in, or to overwrite"),
        weir::field("replaceParameterKeys", &ParamMappingHandle::replaceParameterKeys)
            .about("members or fields to rename"),
        weir::field("removeParameterKeys", &ParamMappingHandle::removeParameterKeys)
            .about("JSONPaths of what is taken out"),
        weir::field("maxBodyBytes", &ParamMappingHandle::maxBodyBytes)
            .range(1, 1 << 30)
            .about("a longer body, coded or decoded, is refused"));

    // Made when the handle is prepared.
    JsonEdits json;
    JsonEdits form;  // the same, of a form as JSON
    bool edits = false;
};

}  // namespace weir::param_mapping
