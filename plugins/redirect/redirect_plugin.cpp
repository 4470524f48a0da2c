#include <cstddef>
#include <string>
#include <string_view>

#include "redirect_handle.hpp"
#include "weir/module.hpp"

namespace {

using weir::redirect::RedirectHandle;

constexpr std::string_view kAlphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view kMarks = "-._~:/?#[]@!$&'()*+,;=%";  // RFC 3986 2.2, 2.3
constexpr std::string_view kHex = "0123456789ABCDEFabcdef";

bool isIn(char c, std::string_view set) { return set.find(c) != set.npos; }

// What keeps `uri` from being one, as the end of a sentence; "" when nothing does.
std::string faultOf(std::string_view uri, bool internal) {
    for (std::size_t i = 0; i < uri.size(); ++i) {
        const std::string place = " at position " + std::to_string(i + 1);
        if (!isIn(uri[i], kAlphanumeric) && !isIn(uri[i], kMarks)) return "has a byte that no URI has" + place;
        const bool encodes = i + 2 < uri.size() && isIn(uri[i + 1], kHex) && isIn(uri[i + 2], kHex);
        if (uri[i] == '%' && !encodes) return "has a '%' without two hexadecimal digits behind it" + place;
        if (uri[i] == '#' && internal) return "has a fragment ('#'), which only a client can follow," + place;
    }
    return "";
}

class Redirect final : public weir::RulePlugin<RedirectHandle> {
public:
    bool prepareRule(RedirectHandle& handle, weir_error* error) override {
        std::string& uri = handle.redirectURI;
        uri.erase(0, uri.find_first_not_of(" \t"));
        uri.erase(uri.find_last_not_of(" \t") + 1);
        const std::string fault = faultOf(uri, handle.internal());
        return fault.empty() || weir::refuse(error, "redirectURI", "'" + uri + "' " + fault);
    }

    weir::Answer onRequest(weir::Exchange& exchange, const RedirectHandle& handle) override {
        if (handle.redirectURI.empty()) return weir::Answer::Next;
        if (handle.internal()) return exchange.redispatch(handle.redirectURI);
        exchange.response().setHeader("Location", handle.redirectURI);
        return exchange.reply(handle.httpStatusCode, "", {});
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Redirect>("redirect", {.order = 110}))
