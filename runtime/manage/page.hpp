#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace weir::manage {

struct PageRequest {
    std::string_view method;
    std::string_view target;              // with its query
    std::string_view authorization = {};  // the field's value; empty: absent
    std::string_view localKey = {};       // likewise
    std::istream* body = nullptr;         // null: none
};

struct PageReply {
    int status = 200;
    std::string body;       // JSON, but for the plain texts of /shenyu/**
    std::string allow;      // Allow; empty: no such field
    std::string challenge;  // WWW-Authenticate; empty: no such field
    std::string type;       // Content-Type; empty: application/json
};

// The whole body; nothing when it has more than `limit` bytes: then enough of what is still to come is read for the
// client to get to the answer.
std::optional<std::string> readBody(std::istream* body, std::size_t limit);

// `{"code":status,"message":"..."}`
PageReply errorPage(int status, std::string_view message);

// 405 that names the method there is.
PageReply wrongMethod(std::string_view allowed, std::string_view message);

}  // namespace weir::manage
