#include "cross_config.hpp"

#include <algorithm>
#include <string_view>

#include "name_list.hpp"
#include "origin.hpp"
#include "weir/http_field.hpp"

namespace weir::cross {

namespace {

// What ShenYu allows always, each once.
constexpr std::string_view kHeaders =
    "x-requested-with,authorization,Content-Type,credential,X-XSRF-TOKEN,token,username,client,ShenYu-Authorization";

void trim(std::string& text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
}

bool isNumber(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Letters, digits and what else stands in a host, its port and an IPv6 address.
bool isAuthority(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               std::string_view("-._~:[]").find(c) != std::string_view::npos;
    });
}

bool prepareNames(std::string& list, std::string_view more, const char* path, weir_error* error) {
    const std::string faulty(faultyName(list));
    if (!faulty.empty()) return refuse(error, path, "expected names with commas between them, found '" + faulty + "'");
    list = joinNames(more, list);
    return true;
}

}  // namespace

bool CrossConfig::prepare(weir_error* error) {
    for (std::size_t i = 0; i < allowedOrigin.origins.size(); ++i) {
        const std::string path = "allowedOrigin.origins[" + std::to_string(i) + "]";
        if (!addOrigin(allowedOrigin.origins[i], path, error)) return false;
    }
    trim(allowedOrigin.spacer);
    trim(allowedOrigin.domain);
    for (std::size_t i = 0; i < allowedOrigin.prefixes.size(); ++i) {
        std::string& prefix = allowedOrigin.prefixes[i];
        trim(prefix);
        if (prefix.empty()) continue;
        if (allowedOrigin.domain.empty()) return refuse(error, "allowedOrigin.domain", "is required with prefixes");
        const std::string path = "allowedOrigin.prefixes[" + std::to_string(i) + "]";
        if (!addOrigin(prefix + allowedOrigin.spacer + allowedOrigin.domain, path, error)) return false;
    }
    trim(allowedOrigin.originRegex);
    if (!allowedOrigin.originRegex.empty() &&
        !pattern_.compile(allowedOrigin.originRegex, "allowedOrigin.originRegex", error))
        return false;
    any_ = any_ || allowedAnyOrigin;
    trim(maxAge);
    if (!maxAge.empty() && !isNumber(maxAge))
        return refuse(error, "maxAge", "expected a whole number of seconds, found '" + maxAge + "'");
    return prepareNames(allowedHeaders, kHeaders, "allowedHeaders", error) &&
           prepareNames(allowedMethods, "", "allowedMethods", error) &&
           prepareNames(allowedExpose, "", "allowedExpose", error);
}

bool CrossConfig::addOrigin(std::string_view text, const std::string& path, weir_error* error) {
    std::string origin(text);
    trim(origin);
    if (origin.empty()) return true;
    if (origin == "*") {
        any_ = true;
        return true;
    }
    if (origin.find("://") == origin.npos) origin.insert(0, "http://");
    const std::size_t authority = origin.find("://") + 3;
    if (!isFieldName(origin.substr(0, authority - 3)) || !isAuthority(origin.substr(authority))) {
        return refuse(error, path, "expected an origin like https://example.com:8443 (patterns go into originRegex), "
                                   "found '" + std::string(text) + "'");
    }
    accepted_.emplace_back(withoutDefaultPort(origin));
    return true;
}

bool CrossConfig::accepts(std::string_view origin) const {
    if (any_ || pattern_.matches(origin)) return true;
    origin = withoutDefaultPort(origin);
    return std::ranges::any_of(accepted_, [&](const std::string& each) { return equalsIgnoreCase(each, origin); });
}

}  // namespace weir::cross
