#include "support/catch.hpp"
#include "unit/plugins/edit_host.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::EditExchange;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;

namespace {

struct Cross : LoadedPlugin {
    Cross() : LoadedPlugin("cross", WEIR_TEST_PLUGINS, weir::test::editHost()) {}

    // Enters; `meanwhile` is what the rest of the chain does when the plugin lets the request go on.
    template <class Rest>
    int run(EditExchange& exchange, const LoadedHandle& config, Rest meanwhile) const {
        weir_match match{};
        match.size = sizeof match;
        match.config = config.get();
        weir_outcome outcome{};
        const int answer = table().enter(plugin(), &exchange, &match, &outcome);
        if (answer != WEIR_FORWARD || !outcome.frame) return answer;
        meanwhile(exchange);
        const weir_event event{sizeof event, WEIR_EVENT_RETURNED, 0, WEIR_NEXT_OK, {}};
        table().resume(plugin(), &exchange, outcome.frame, &event, &outcome);
        return answer;
    }
    int run(EditExchange& exchange, const LoadedHandle& config) const {
        return run(exchange, config, [](EditExchange&) {});
    }
};

constexpr const char* kOrigin = "Access-Control-Allow-Origin";

}  // namespace

TEST_CASE("cross does nothing unless its config says enabled") {
    const Cross plugin;
    for (const char* config : {"", "{}", R"({"allowedAnyOrigin":true})"}) {
        INFO(config);
        const LoadedHandle handle(plugin, WEIR_SCOPE_CONFIG, config);
        REQUIRE(handle.ok());
        EditExchange exchange("/", {{"Origin", "http://a.com"}, {"Host", "b.com"}});
        exchange.method = "OPTIONS";
        CHECK(plugin.run(exchange, handle) == WEIR_FORWARD);
        CHECK(exchange.lines(WEIR_RESPONSE).empty());
        CHECK_FALSE(exchange.replied);
    }
}

TEST_CASE("an origin is accepted by prefix and domain, by the list, or by the expression") {
    struct Row { const char* config; const char* origin; bool accepted; };
    const Row rows[] = {
        {R"({"allowedAnyOrigin":true})", "http://a.com", true},
        {R"({"allowedAnyOrigin":true})", "null", true},
        {R"({"allowedAnyOrigin":false})", "http://a.com", false},
        {R"({"allowedOrigin":{"domain":"x.org","prefixes":["a"," b "]}})", "http://a.x.org", true},
        {R"({"allowedOrigin":{"domain":"x.org","prefixes":["a"," b "]}})", "http://b.x.org", true},
        {R"({"allowedOrigin":{"domain":"x.org","prefixes":["a"]}})", "https://a.x.org", false},
        {R"({"allowedOrigin":{"domain":"x.org","prefixes":["a"]}})", "http://x.org", false},
        {R"({"allowedOrigin":{"spacer":"-","domain":"x.org","prefixes":["a"]}})", "http://a-x.org", true},
        {R"({"allowedOrigin":{"domain":"x.org","prefixes":["https://a"]}})", "https://a.x.org", true},
        {R"({"allowedOrigin":{"origins":["c.org"]}})", "http://c.org", true},
        {R"({"allowedOrigin":{"origins":["c.org"]}})", "http://C.ORG", true},
        {R"({"allowedOrigin":{"origins":["c.org"]}})", "http://c.org.evil.com", false},
        {R"({"allowedOrigin":{"origins":["c.org"]}})", "http://c.org:8080", false},
        {R"({"allowedOrigin":{"origins":["c.org:80"]}})", "http://c.org", true},
        {R"({"allowedOrigin":{"origins":["https://c.org:443"]}})", "https://c.org", true},
        {R"({"allowedOrigin":{"origins":["https://c.org:8443",""]}})", "https://c.org:8443", true},
        {R"({"allowedOrigin":{"origins":["*"]}})", "https://anything", true},
        {R"({"allowedOrigin":{"originRegex":"^http(|s)://(.*\\.|)abc.com$"}})", "https://x.abc.com", true},
        {R"({"allowedOrigin":{"originRegex":"https://abc\\.com"}})", "https://abc.com", true},
        {R"({"allowedOrigin":{"originRegex":"https://abc\\.com"}})", "https://abc.com.evil.org", false},
        {R"({"allowedOrigin":{"originRegex":" "}})", "https://abc.com", false},
    };
    const Cross plugin;
    for (const Row& row : rows) {
        INFO(row.config << " and " << row.origin);
        const LoadedHandle handle(plugin, WEIR_SCOPE_CONFIG, std::string(R"({"enabled":true,)") + (row.config + 1));
        INFO(handle.error().whole());
        REQUIRE(handle.ok());
        EditExchange exchange("/", {{"Origin", row.origin}, {"Host", "b.com"}});
        CHECK(plugin.run(exchange, handle) == WEIR_FORWARD);
        CHECK(exchange.field(WEIR_RESPONSE, kOrigin) == (row.accepted ? row.origin : "(none)"));
        CHECK(exchange.field(WEIR_RESPONSE, "Vary") == "Origin");
    }
}

TEST_CASE("a request of the gateway's own origin is not CORS") {
    struct Row { const char* origin; const char* host; bool foreign; };
    const Row rows[] = {
        {"http://b.com", "b.com", false},     {"http://B.com", "b.COM", false},
        {"http://b.com", "b.com:80", false},  {"http://b.com:80", "b.com", false},
        {"http://b.com:8080", "b.com", true}, {"http://b.com:8080", "b.com:8080", false},
        {"https://b.com", "b.com", true},     {"http://a.com", "b.com", true},
        {"", "b.com", false},
    };
    const Cross plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_CONFIG, R"({"enabled":true,"allowedAnyOrigin":true})");
    for (const Row& row : rows) {
        INFO(row.origin << " to " << row.host);
        EditExchange exchange("/", {{"Origin", row.origin}, {"Host", row.host}});
        exchange.method = "OPTIONS";
        CHECK(plugin.run(exchange, handle) == (row.foreign ? WEIR_REPLY : WEIR_FORWARD));
        CHECK(exchange.field(WEIR_RESPONSE, kOrigin) == (row.foreign ? row.origin : "(none)"));
    }
}

TEST_CASE("a preflight gets an empty 200, accepted or not") {
    struct Row { const char* origin; const char* fields; };
    const Row rows[] = {
        {"http://a.com",
         "Access-Control-Allow-Methods: GET,PUT | Access-Control-Allow-Headers: x-requested-with,authorization,"
         "Content-Type,credential,X-XSRF-TOKEN,token,username,client,ShenYu-Authorization,X-Mine | "
         "Access-Control-Expose-Headers: X-Seen | Access-Control-Max-Age: 60 | "
         "Access-Control-Allow-Credentials: true | Access-Control-Allow-Origin: http://a.com | Vary: Origin"},
        {"http://other.com", "Vary: Origin"},
    };
    const Cross plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_CONFIG,
                              R"({"enabled":true,"allowedOrigin":{"origins":["a.com"]},"allowedMethods":"GET, PUT",)"
                              R"("allowedHeaders":"X-Mine, Token","allowedExpose":"X-Seen","maxAge":"60",)"
                              R"("allowCredentials":true})");
    REQUIRE(handle.ok());
    for (const Row& row : rows) {
        EditExchange exchange("/", {{"Origin", row.origin}, {"Host", "b.com"}});
        exchange.method = "OPTIONS";
        CHECK(plugin.run(exchange, handle) == WEIR_REPLY);
        CHECK(exchange.status == 200);
        CHECK(exchange.body.empty());
        CHECK(exchange.lines(WEIR_RESPONSE) == row.fields);
    }
}

TEST_CASE("lists are merged with those that are set already, and an upstream does not say who may see the answer") {
    const Cross plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_CONFIG,
                              R"({"enabled":true,"allowedAnyOrigin":true,"allowedMethods":"GET,PUT","maxAge":""})");
    EditExchange exchange("/", {{"Origin", "http://a.com"}, {"Host", "b.com"}});
    exchange.fields[WEIR_RESPONSE] = {{"Access-Control-Allow-Methods", "POST, get"},
                                      {"Access-Control-Allow-Headers", "*"}};
    plugin.run(exchange, handle, [](EditExchange& upstream) {
        CHECK(upstream.field(WEIR_RESPONSE, "Access-Control-Allow-Methods") == "POST,get,PUT");
        CHECK(upstream.field(WEIR_RESPONSE, "Access-Control-Allow-Headers") == "*");
        CHECK(upstream.field(WEIR_RESPONSE, "Access-Control-Max-Age") == "(none)");
        CHECK(upstream.field(WEIR_RESPONSE, "Access-Control-Allow-Credentials") == "(none)");
        upstream.fields[WEIR_RESPONSE] = {{kOrigin, "*"}, {"Vary", "Accept-Encoding"}};
    });
    CHECK(exchange.lines(WEIR_RESPONSE) ==
          "Vary: Accept-Encoding | Access-Control-Allow-Origin: http://a.com | Vary: Origin");
}

TEST_CASE("Vary gets Origin once, and not beside *") {
    struct Row { const char* upstream; const char* lines; };
    const Row rows[] = {{"Accept, origin", "Vary: Accept, origin"}, {"*", "Vary: *"}, {"X", "Vary: X | Vary: Origin"}};
    const Cross plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_CONFIG, R"({"enabled":true})");
    for (const Row& row : rows) {
        EditExchange exchange("/", {{"Host", "b.com"}});
        plugin.run(exchange, handle,
                   [&](EditExchange& made) { made.fields[WEIR_RESPONSE] = {{"Vary", row.upstream}}; });
        CHECK(exchange.lines(WEIR_RESPONSE) == row.lines);
    }
}

TEST_CASE("cross refuses a config that could not work") {
    struct Row { const char* config; const char* message; };
    const Row rows[] = {
        {R"({"enabled":"maybe"})", "enabled: expected true or false, found 'maybe'"},
        {R"({"allowedOrigin":{"origins":["a.com","http://a.com/x"]}})",
         "allowedOrigin.origins[1]: expected an origin like https://example.com:8443 (patterns go into originRegex), "
         "found 'http://a.com/x'"},
        {R"({"allowedOrigin":{"origins":["*.a.com"]}})",
         "allowedOrigin.origins[0]: expected an origin like https://example.com:8443 (patterns go into originRegex), "
         "found '*.a.com'"},
        {R"({"allowedOrigin":{"prefixes":["a"]}})", "allowedOrigin.domain: is required with prefixes"},
        {R"({"allowedOrigin":{"domain":"x.org","prefixes":["a b"]}})",
         "allowedOrigin.prefixes[0]: expected an origin like https://example.com:8443 (patterns go into originRegex), "
         "found 'a b.x.org'"},
        {R"({"allowedOrigin":{"originRegex":"a("}})",
         "allowedOrigin.originRegex: position 1: not a regular expression of the RE2 syntax: missing ): a("},
        {R"({"allowedHeaders":"X-A, X B"})", "allowedHeaders: expected names with commas between them, found 'X B'"},
        {R"({"allowedMethods":"GET\r\nX: y"})",
         "allowedMethods: expected names with commas between them, found 'GET\r\nX: y'"},
        {R"({"allowedExpose":"é"})", "allowedExpose: expected names with commas between them, found 'é'"},
        {R"({"maxAge":"soon"})", "maxAge: expected a whole number of seconds, found 'soon'"},
    };
    const Cross plugin;
    for (const Row& row : rows) {
        INFO(row.config);
        const LoadedHandle handle(plugin, WEIR_SCOPE_CONFIG, row.config);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
}
