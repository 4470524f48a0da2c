#pragma once

#include <string>

#include "weir/fields.hpp"

namespace weir::redirect {

// ShenYu's rule handle. A blank redirectURI redirects nothing.
struct RedirectHandle {
    std::string redirectURI;   // "/..." goes through this gateway's chain, anything else to the client
    int httpStatusCode = 302;  // of the answer to the client
    static constexpr auto fields = weir::fields(
        weir::field("redirectURI", &RedirectHandle::redirectURI),
        weir::field("httpStatusCode", &RedirectHandle::httpStatusCode).range(300, 399));

    bool internal() const { return redirectURI.starts_with('/'); }
};

}  // namespace weir::redirect
