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
    Texts replaceHeaderKeys;  // old name to new one
    std::vector<std::string> removeHeaderKeys;
    static constexpr auto fields = weir::fields(
        weir::field("addHeaders", &HeaderEdits::addHeaders),
        weir::field("setHeaders", &HeaderEdits::setHeaders),
        weir::field("replaceHeaderKeys", &HeaderEdits::replaceHeaderKeys),
        weir::field("removeHeaderKeys", &HeaderEdits::removeHeaderKeys));
};

struct ParameterEdits {
    Texts addParameters;
    Texts setParameters;
    Texts replaceParameterKeys;
    std::vector<std::string> removeParameterKeys;
    static constexpr auto fields = weir::fields(
        weir::field("addParameters", &ParameterEdits::addParameters),
        weir::field("setParameters", &ParameterEdits::setParameters),
        weir::field("replaceParameterKeys", &ParameterEdits::replaceParameterKeys),
        weir::field("removeParameterKeys", &ParameterEdits::removeParameterKeys));

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
        weir::field("addCookies", &CookieEdits::addCookies),
        weir::field("setCookies", &CookieEdits::setCookies),
        weir::field("replaceCookieKeys", &CookieEdits::replaceCookieKeys),
        weir::field("removeCookieKeys", &CookieEdits::removeCookieKeys));

    bool empty() const {
        return addCookies.empty() && setCookies.empty() && replaceCookieKeys.empty() && removeCookieKeys.empty();
    }
};

// ShenYu's rule handle.
struct RequestHandle {
    HeaderEdits header;
    ParameterEdits parameter;
    CookieEdits cookie;
    bool preserveHost = false;  // the upstream gets the client's Host
    // Of these headers, names with ';' between them, not every line goes on.
    std::string requestHeaderUniqueStrategy = "RETAIN_FIRST";
    std::string requestUniqueHeaders;
    std::string respHeaderUniqueStrategy = "RETAIN_FIRST";
    std::string respUniqueHeaders;
    static constexpr auto fields = weir::fields(
        weir::field("header", &RequestHandle::header),
        weir::field("parameter", &RequestHandle::parameter),
        weir::field("cookie", &RequestHandle::cookie),
        weir::field("preserveHost", &RequestHandle::preserveHost),
        weir::field("requestHeaderUniqueStrategy", &RequestHandle::requestHeaderUniqueStrategy)
            .oneOf("RETAIN_FIRST", "RETAIN_LAST", "RETAIN_UNIQUE"),
        weir::field("requestUniqueHeaders", &RequestHandle::requestUniqueHeaders),
        weir::field("respHeaderUniqueStrategy", &RequestHandle::respHeaderUniqueStrategy)
            .oneOf("RETAIN_FIRST", "RETAIN_LAST", "RETAIN_UNIQUE"),
        weir::field("respUniqueHeaders", &RequestHandle::respUniqueHeaders));

    // Made when the handle is prepared: checks what it names. false: refused, the reason is in `error`.
    bool prepare(weir_error* error);

    std::vector<std::string> requestUnique;
    std::vector<std::string> responseUnique;
};

}  // namespace weir::request
