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

// ShenYu's rule handle. Within headers and within the body: add, set, replace, remove, in this order.
struct ModifyResponseHandle {
    using Headers = std::vector<std::pair<std::string, std::string>>;

    Headers addHeaders;
    Headers setHeaders;
    Headers replaceHeaderKeys;
    std::vector<std::string> removeHeaderKeys;
    int statusCode = 0;
    std::vector<JsonKey> addBodyKeys;
    std::vector<JsonKey> replaceBodyKeys;
    std::vector<std::string> removeBodyKeys;
    std::uint64_t maxBodyBytes = 1 << 20;
    static constexpr auto fields = weir::fields(
        weir::field("addHeaders", &ModifyResponseHandle::addHeaders).about("name to value: one line more"),
        weir::field("setHeaders", &ModifyResponseHandle::setHeaders).about("name to value: the only line"),
        weir::field("replaceHeaderKeys", &ModifyResponseHandle::replaceHeaderKeys)
            .about("name to another value, where the response has the name"),
        weir::field("removeHeaderKeys", &ModifyResponseHandle::removeHeaderKeys).about("names"),
        weir::field("statusCode", &ModifyResponseHandle::statusCode)
            .range(0, 999)
            .about("0: as it is; else from 200"),
        weir::field("addBodyKeys", &ModifyResponseHandle::addBodyKeys).about("members to put in, or to overwrite"),
        weir::field("replaceBodyKeys", &ModifyResponseHandle::replaceBodyKeys).about("members to rename"),
        weir::field("removeBodyKeys", &ModifyResponseHandle::removeBodyKeys).about("JSONPaths of what is taken out"),
        weir::field("maxBodyBytes", &ModifyResponseHandle::maxBodyBytes)
            .range(1, 1 << 30)
            .about("a longer body, coded or decoded, stays as it is"));

    // Made when the handle is prepared.
    JsonEdits edits;
    bool editsBody = false;
    std::unique_ptr<std::atomic<bool>> warned = std::make_unique<std::atomic<bool>>();  // of a body that had to stay
};

}  // namespace weir::modify_response
