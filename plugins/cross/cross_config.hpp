#pragma once

#include <string>
#include <vector>

#include "weir/fields.hpp"
#include "weir/pattern.hpp"

namespace weir::cross {

// Where requests may come from.
struct AllowedOrigin {
    std::string spacer = ".";
    std::string domain;
    std::vector<std::string> prefixes;
    std::vector<std::string> origins;
    std::string originRegex;
    static constexpr auto fields = weir::fields(
        weir::field("spacer", &AllowedOrigin::spacer).about("between prefix and domain"),
        weir::field("domain", &AllowedOrigin::domain).about("required with prefixes"),
        weir::field("prefixes", &AllowedOrigin::prefixes)
            .about("accept prefix, spacer and domain of each; one without a scheme is http"),
        weir::field("origins", &AllowedOrigin::origins)
            .about("accepted origins; one without a scheme is http; * is every one"),
        weir::field("originRegex", &AllowedOrigin::originRegex)
            .about("RE2; accepts an origin that matches as a whole"));
};

// ShenYu's settings shenyu.cross.*, as the plugin's config. Lists are separated by commas.
struct CrossConfig {
    bool enabled = false;
    bool allowedAnyOrigin = false;
    AllowedOrigin allowedOrigin;
    std::string allowedHeaders;
    std::string allowedMethods = "*";
    std::string allowedExpose;
    std::string maxAge = "18000";
    bool allowCredentials = false;
    static constexpr auto fields = weir::fields(
        weir::field("enabled", &CrossConfig::enabled).about("whether origins are looked at"),
        weir::field("allowedAnyOrigin", &CrossConfig::allowedAnyOrigin).about("accept every origin"),
        weir::field("allowedOrigin", &CrossConfig::allowedOrigin).about("what is accepted"),
        weir::field("allowedHeaders", &CrossConfig::allowedHeaders)
            .about("names, with commas, besides those that are always allowed"),
        weir::field("allowedMethods", &CrossConfig::allowedMethods).about("names, with commas"),
        weir::field("allowedExpose", &CrossConfig::allowedExpose)
            .about("names, with commas; blank: the header is left out"),
        weir::field("maxAge", &CrossConfig::maxAge).about("seconds; blank: the header is left out"),
        weir::field("allowCredentials", &CrossConfig::allowCredentials)
            .about("whether cookies and the like may come along"));

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
