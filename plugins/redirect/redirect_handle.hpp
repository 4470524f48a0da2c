#pragma once

#include <string>

#include "weir/fields.hpp"

namespace weir::redirect {

// ShenYu's rule handle. A blank redirectURI redirects nothing.
struct RedirectHandle {
    std::string redirectURI;
    int httpStatusCode = 302;
    static constexpr auto fields = weir::fields(
        weir::field("redirectURI", &RedirectHandle::redirectURI)
            .about("blank: the request passes; /...: it goes through the chain again with this path; else: the "
                   "Location of the answer"),
        weir::field("httpStatusCode", &RedirectHandle::httpStatusCode).range(300, 399)
            .about("of the answer to the client"));

    bool internal() const { return redirectURI.starts_with('/'); }
};

}  // namespace weir::redirect
