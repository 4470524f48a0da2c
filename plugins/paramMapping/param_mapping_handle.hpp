#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/fields.hpp"
#include "weir/json_edits.hpp"

namespace weir::param_mapping {

// A member of a JSON object, or a field of a form: `path` leads to the object ("$" is the whole body).
struct ParameterKey {
    std::string path;
    std::string key;
    std::string value;
    static constexpr auto fields = weir::fields(weir::field("path", &ParameterKey::path).required(),
                                                weir::field("key", &ParameterKey::key).required(),
                                                weir::field("value", &ParameterKey::value));
};

// ShenYu's rule handle: add, replace, remove, in this order.
struct ParamMappingHandle {
    std::vector<ParameterKey> addParameterKeys;      // the member `key` with the text `value`
    std::vector<ParameterKey> replaceParameterKeys;  // the member `key` becomes the member `value`
    std::vector<std::string> removeParameterKeys;    // paths
    std::uint64_t maxBodyBytes = 4 << 20;            // a longer body, coded or decoded, is answered 413
    static constexpr auto fields = weir::fields(
        weir::field("addParameterKeys", &ParamMappingHandle::addParameterKeys),
        weir::field("replaceParameterKeys", &ParamMappingHandle::replaceParameterKeys),
        weir::field("removeParameterKeys", &ParamMappingHandle::removeParameterKeys),
        weir::field("maxBodyBytes", &ParamMappingHandle::maxBodyBytes).range(1, 1 << 30));

    // Made when the handle is prepared.
    JsonEdits json;
    JsonEdits form;  // the same, of a form as JSON
    bool edits = false;
};

}  // namespace weir::param_mapping
