#include <string>
#include <string_view>

#include "cross_config.hpp"
#include "name_list.hpp"
#include "origin.hpp"
#include "weir/http_field.hpp"
#include "weir/module.hpp"

namespace {

using weir::cross::CrossConfig;

constexpr std::string_view kAllowOrigin = "Access-Control-Allow-Origin";

// The origin of a request from elsewhere; "" when it is none.
std::string_view foreignOrigin(weir::Request request) {
    const std::string_view origin = request.header("Origin").value_or("");
    return weir::cross::isOwnOrigin(origin, request.header("Host").value_or("")) ? std::string_view() : origin;
}

// Caches must keep the answers to different origins apart.
void varyByOrigin(weir::Response response) {
    bool said = false;
    response.forEachHeader([&](std::string_view name, std::string_view value) {
        if (!weir::equalsIgnoreCase(name, "Vary")) return;
        said = said || weir::cross::hasName(value, "Origin") || weir::cross::hasName(value, "*");
    });
    if (!said) response.addHeader("Vary", "Origin");
}

// Adds to what is there already.
void allowNames(weir::Response response, std::string_view name, const std::string& names) {
    if (names.empty()) return;
    const auto before = response.header(name);
    response.setHeader(name, before ? weir::cross::joinNames(*before, names) : names);
}

void allow(weir::Response response, std::string_view origin, const CrossConfig& config) {
    response.setHeader(kAllowOrigin, origin);
    allowNames(response, "Access-Control-Allow-Methods", config.allowedMethods);
    allowNames(response, "Access-Control-Allow-Headers", config.allowedHeaders);
    allowNames(response, "Access-Control-Expose-Headers", config.allowedExpose);
    if (!config.maxAge.empty()) response.setHeader("Access-Control-Max-Age", config.maxAge);
    if (config.allowCredentials) response.setHeader("Access-Control-Allow-Credentials", "true");
}

class Cross final : public weir::ConfiguredPlugin<CrossConfig> {
public:
    bool prepareConfig(CrossConfig& config, weir_error* error) override { return config.prepare(error); }

    weir::Answer onRequest(weir::Exchange&, const CrossConfig& config) override {
        return config.enabled ? weir::Answer::Execute : weir::Answer::Next;
    }

    weir::Task<> execute(weir::Exchange& exchange, weir::Next next, const CrossConfig& config) override {
        const std::string_view origin = foreignOrigin(exchange.request());
        const bool accepted = !origin.empty() && config.accepts(origin);
        // Set before the chain runs, so that an upstream's own words replace them, and error replies have them.
        if (accepted) allow(exchange.response(), origin, config);
        if (!origin.empty() && exchange.request().method() == "OPTIONS") exchange.reply(200, "", {});
        else co_await next();
        // Who may see an answer is the gateway's to say: an upstream's `*` would forbid credentials.
        if (accepted) exchange.response().setHeader(kAllowOrigin, origin);
        varyByOrigin(exchange.response());
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Cross>("cross", {.order = -100}))
