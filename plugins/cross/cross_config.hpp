#pragma once

#include <string>
#include <vector>

#include "weir/fields.hpp"
#include "weir/pattern.hpp"

namespace weir::cross {

// Where requests may come from: `prefix + spacer + domain` of each prefix, each of origins, what originRegex matches.
// Where no scheme is given it is that of the gateway, http.
struct AllowedOrigin {
    std::string spacer = ".";
    std::string domain;
    std::vector<std::string> prefixes;
    std::vector<std::string> origins;  // "*": any
    std::string originRegex;           // RE2's syntax, the whole origin
    static constexpr auto fields = weir::fields(
        weir::field("spacer", &AllowedOrigin::spacer),
        weir::field("domain", &AllowedOrigin::domain),
        weir::field("prefixes", &AllowedOrigin::prefixes),
        weir::field("origins", &AllowedOrigin::origins),
        weir::field("originRegex", &AllowedOrigin::originRegex));
};

// ShenYu's settings shenyu.cross.*, as the plugin's config. Lists are separated by commas.
struct CrossConfig {
    bool enabled = false;
    bool allowedAnyOrigin = false;
    AllowedOrigin allowedOrigin;
    std::string allowedHeaders;  // besides those that are always allowed
    std::string allowedMethods = "*";
    std::string allowedExpose;
    std::string maxAge = "18000";  // seconds; blank: the header is left out
    bool allowCredentials = false;
    static constexpr auto fields = weir::fields(
        weir::field("enabled", &CrossConfig::enabled),
        weir::field("allowedAnyOrigin", &CrossConfig::allowedAnyOrigin),
        weir::field("allowedOrigin", &CrossConfig::allowedOrigin),
        weir::field("allowedHeaders", &CrossConfig::allowedHeaders),
        weir::field("allowedMethods", &CrossConfig::allowedMethods),
        weir::field("allowedExpose", &CrossConfig::allowedExpose),
        weir::field("maxAge", &CrossConfig::maxAge),
        weir::field("allowCredentials", &CrossConfig::allowCredentials));

    // Made when the config is prepared: settles the origins and checks the rest. The lists above are left without
    // blanks and doubles, allowedHeaders with all that are allowed. false: refused, the reason is in `error`.
    bool prepare(weir_error* error);
    // Whether requests from that origin may see the answers.
    bool accepts(std::string_view origin) const;

private:
    bool addOrigin(std::string_view text, const std::string& path, weir_error* error);

    std::vector<std::string> accepted_;  // as serialised origins, without a port that is the scheme's own
    bool any_ = false;
    Pattern pattern_;
};

}  // namespace weir::cross
