#pragma once

#include <istream>
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

// `{"code":status,"message":"..."}`
PageReply errorPage(int status, std::string_view message);

// 405 that names the method there is.
PageReply wrongMethod(std::string_view allowed, std::string_view message);

}  // namespace weir::manage
