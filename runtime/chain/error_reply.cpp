#include "chain/error_reply.hpp"

#include "base/value.hpp"

namespace weir::chain {

std::string errorBody(int code, std::string_view message) {
    return "{\"code\":" + std::to_string(code) + ",\"message\":" + base::jsonQuote(message) + "}";
}

int shenyuStatus(int status, int code) {
    switch (code) {
        case -102:
        case -106:
        case -107:
        case -119:
        case 413:
        case 431: return 200;
        case -103: return 500;  // refused or broken off
        default: return status;
    }
}

}  // namespace weir::chain
