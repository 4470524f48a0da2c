#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace weir {

// Thrown by a plugin to end its request with an error reply, and by awaitables when the awaited work failed. `status`
// is the HTTP status, `code` the number in ShenYu's envelope. Any other exception becomes a 500 with code -1.
class Error : public std::exception {
public:
    Error(int status, int code, std::string_view text) : status_(status), code_(code), text_(text) {}

    int status() const noexcept { return status_; }
    int code() const noexcept { return code_; }
    const char* what() const noexcept override { return text_.c_str(); }

private:
    int status_;
    int code_;
    std::string text_;
};

}  // namespace weir
