#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weir/fields.hpp"
#include "weir/json_edits.hpp"

namespace weir::modify_response {

// A member of a JSON object: `path` leads to the object.
struct BodyKey {
    std::string path;
    std::string key;
    std::string value;
    static constexpr auto fields =
        weir::fields(weir::field("path", &BodyKey::path).required(), weir::field("key", &BodyKey::key).required(),
                     weir::field("value", &BodyKey::value));
};

// ShenYu's rule handle. Within headers and within the body: add, set, replace, remove, in this order.
struct ModifyResponseHandle {
    using Headers = std::vector<std::pair<std::string, std::string>>;

    Headers addHeaders;
    Headers setHeaders;
    Headers replaceHeaderKeys;  // name -> another value, where the response has the name
    std::vector<std::string> removeHeaderKeys;
    int statusCode = 0;  // 0: as it is
    std::vector<BodyKey> addBodyKeys;      // the member `key` with the text `value`
    std::vector<BodyKey> replaceBodyKeys;  // the member `key` becomes the member `value`
    std::vector<std::string> removeBodyKeys;  // paths
    std::uint64_t maxBodyBytes = 1 << 20;     // a longer body, coded or decoded, stays as it is
    static constexpr auto fields = weir::fields(
        weir::field("addHeaders", &ModifyResponseHandle::addHeaders),
        weir::field("setHeaders", &ModifyResponseHandle::setHeaders),
        weir::field("replaceHeaderKeys", &ModifyResponseHandle::replaceHeaderKeys),
        weir::field("removeHeaderKeys", &ModifyResponseHandle::removeHeaderKeys),
        weir::field("statusCode", &ModifyResponseHandle::statusCode).range(0, 999),
        weir::field("addBodyKeys", &ModifyResponseHandle::addBodyKeys),
        weir::field("replaceBodyKeys", &ModifyResponseHandle::replaceBodyKeys),
        weir::field("removeBodyKeys", &ModifyResponseHandle::removeBodyKeys),
        weir::field("maxBodyBytes", &ModifyResponseHandle::maxBodyBytes).range(1, 1 << 30));

    // Made when the handle is prepared.
    JsonEdits edits;
    bool editsBody = false;
    std::unique_ptr<std::atomic<bool>> warned = std::make_unique<std::atomic<bool>>();  // of a body that had to stay
};

}  // namespace weir::modify_response
