#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weir/fields.hpp"

namespace weir::request {

using Texts = std::vector<std::pair<std::string, std::string>>;

// Each group is applied in the order of its members. Replacing gives what is there another name and keeps the value.

struct HeaderEdits {
    Texts addHeaders;
    Texts setHeaders;
    Texts replaceHeaderKeys;
    std::vector<std::string> removeHeaderKeys;
    static constexpr auto fields = weir::fields(
        weir::field("addHeaders", &HeaderEdits::addHeaders).about("name to value: one line more"),
        weir::field("setHeaders", &HeaderEdits::setHeaders)
            .about("name to value: one line in place of all of that name"),
        weir::field("replaceHeaderKeys", &HeaderEdits::replaceHeaderKeys)
            .about("old name to new name; the values stay"),
        weir::field("removeHeaderKeys", &HeaderEdits::removeHeaderKeys).about("names"));
};

struct ParameterEdits {
    Texts addParameters;
    Texts setParameters;
    Texts replaceParameterKeys;
    std::vector<std::string> removeParameterKeys;
    static constexpr auto fields = weir::fields(
        weir::field("addParameters", &ParameterEdits::addParameters).about("name to value: one more of the query"),
        weir::field("setParameters", &ParameterEdits::setParameters)
            .about("name to value: in place of all of that name"),
        weir::field("replaceParameterKeys", &ParameterEdits::replaceParameterKeys)
            .about("old name to new name; the values stay"),
        weir::field("removeParameterKeys", &ParameterEdits::removeParameterKeys).about("names"));

    bool empty() const {
        return addParameters.empty() && setParameters.empty() && replaceParameterKeys.empty() &&
               removeParameterKeys.empty();
    }
};

struct CookieEdits {
    Texts addCookies;
    Texts setCookies;
    Texts replaceCookieKeys;
    std::vector<std::string> removeCookieKeys;
    static constexpr auto fields = weir::fields(
        weir::field("addCookies", &CookieEdits::addCookies).about("name to value: one more"),
        weir::field("setCookies", &CookieEdits::setCookies).about("name to value: in place of all of that name"),
        weir::field("replaceCookieKeys", &CookieEdits::replaceCookieKeys)
            .about("old name to new name; the values stay"),
        weir::field("removeCookieKeys", &CookieEdits::removeCookieKeys).about("names"));

    bool empty() const {
        return addCookies.empty() && setCookies.empty() && replaceCookieKeys.empty() && removeCookieKeys.empty();
    }
};

// ShenYu's rule handle.
struct RequestHandle {
    HeaderEdits header;
    ParameterEdits parameter;
    CookieEdits cookie;
    bool preserveHost = false;
    std::string requestHeaderUniqueStrategy = "RETAIN_FIRST";
    std::string requestUniqueHeaders;
    std::string respHeaderUniqueStrategy = "RETAIN_FIRST";
    std::string respUniqueHeaders;
    static constexpr auto fields = weir::fields(
        weir::field("header", &RequestHandle::header).about("of the request"),
        weir::field("parameter", &RequestHandle::parameter).about("of its query"),
        weir::field("cookie", &RequestHandle::cookie).about("of its Cookie header"),
        weir::field("preserveHost", &RequestHandle::preserveHost)
            .about("the upstream gets the client's Host, not its own host:port"),
        weir::field("requestHeaderUniqueStrategy", &RequestHandle::requestHeaderUniqueStrategy)
            .oneOf("RETAIN_FIRST", "RETAIN_LAST", "RETAIN_UNIQUE")
                .about("which line stays; RETAIN_UNIQUE: one for each value"),
        weir::field("requestUniqueHeaders", &RequestHandle::requestUniqueHeaders)
            .about("names, with ; between them: of several lines not all go to the upstream"),
        weir::field("respHeaderUniqueStrategy", &RequestHandle::respHeaderUniqueStrategy)
            .oneOf("RETAIN_FIRST", "RETAIN_LAST", "RETAIN_UNIQUE").about("the same for the response"),
        weir::field("respUniqueHeaders", &RequestHandle::respUniqueHeaders)
            .about("the same for the response, whoever made it"));

    // Made when the handle is prepared: checks what it names. false: refused, the reason is in `error`.
    bool prepare(weir_error* error);

    std::vector<std::string> requestUnique;
    std::vector<std::string> responseUnique;
};

}  // namespace weir::request
