#include "origin.hpp"

#include "weir/http_field.hpp"

namespace weir::cross {

namespace {

bool startsWith(std::string_view text, std::string_view start) {
    return equalsIgnoreCase(text.substr(0, start.size()), start);
}

std::string_view without(std::string_view text, std::string_view end) {
    return text.ends_with(end) ? text.substr(0, text.size() - end.size()) : text;
}

constexpr std::string_view kHttp = "http://";

}  // namespace

std::string_view withoutDefaultPort(std::string_view origin) {
    if (startsWith(origin, kHttp)) return without(origin, ":80");
    if (startsWith(origin, "https://")) return without(origin, ":443");
    return origin;
}

bool isOwnOrigin(std::string_view origin, std::string_view host) {
    if (!startsWith(origin, kHttp)) return false;
    return equalsIgnoreCase(without(origin.substr(kHttp.size()), ":80"), without(host, ":80"));
}

}  // namespace weir::cross
