// Modules that edit what passes through: cross, request and generalContext through the binary, and the config of
// plugins, changed by calls.

#include "functional/ext_folder.hpp"
#include "functional/local_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/temp_directory.hpp"

using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

std::string withConfig(const std::string& upstream, const std::string& plugin, const std::string& config) {
    return proxyTo(upstream) + "  - name: " + plugin + "\n    config: " + config + "\n";
}

// `fields`: lines of the head, each with its end.
HttpMessage send(const GatewayProcess& gateway, const std::string& method, const std::string& target,
                 const std::string& fields) {
    return RawClient(gateway.port())
        .exchange(method + " " + target + " HTTP/1.1\r\nHost: weir.test\r\n" + fields + "\r\n");
}
HttpMessage fromOrigin(const GatewayProcess& gateway, const std::string& origin, const std::string& method = "GET") {
    return send(gateway, method, "/http/a", "Origin: " + origin + "\r\n");
}

// The lines of that name, with blanks between them.
std::string all(const HttpMessage& message, const std::string& name) {
    std::string out;
    for (const auto& [key, value] : message.fields)
        if (key == name) out += (out.empty() ? "" : " ") + value;
    return out;
}

constexpr const char* kOrigin = "Access-Control-Allow-Origin";
constexpr const char* kPluginCall = "/shenyu/plugin/saveOrUpdate";

std::string crossData(const std::string& config) {
    return R"({"id":"cross","name":"cross","enabled":true,"config":)" + quoted(config) + "}";
}

}  // namespace

TEST_CASE("cross without data lets requests from other origins pass as any other") {
    const RecordingUpstream upstream;
    const GatewayProcess gateway(proxyTo(upstream.address()));
    const HttpMessage answer = fromOrigin(gateway, "http://a.com", "OPTIONS");
    CHECK(answer.status() == 200);
    CHECK(answer.body == "ok");
    CHECK_FALSE(answer.has(kOrigin));
    CHECK_FALSE(answer.has("Vary"));
    CHECK(upstream.requests().at(0).startLine == "OPTIONS /a HTTP/1.1");
}

TEST_CASE("preflights are answered by the gateway, other requests from accepted origins may be read") {
    const RecordingUpstream upstream([](const HttpMessage&) {
        return RecordingUpstream::ok("ok", "Access-Control-Allow-Origin: *\r\nAccess-Control-Max-Age: 5\r\n"
                                           "Vary: Accept-Encoding\r\n");
    });
    const GatewayProcess gateway(withConfig(upstream.address(), "cross",
                                            "{enabled: true, allowCredentials: true, allowedMethods: 'GET, PUT', "
                                            "allowedOrigin: {origins: ['https://a.com']}}"));
    const HttpMessage preflight = fromOrigin(gateway, "https://a.com", "OPTIONS");
    CHECK(preflight.status() == 200);
    CHECK(preflight.body.empty());
    CHECK(preflight.field(kOrigin) == "https://a.com");
    CHECK(preflight.field("Access-Control-Allow-Methods") == "GET,PUT");
    CHECK(preflight.field("Access-Control-Allow-Credentials") == "true");
    CHECK(preflight.field("Access-Control-Max-Age") == "18000");
    CHECK(preflight.field("Vary") == "Origin");

    const HttpMessage refused = fromOrigin(gateway, "https://b.com", "OPTIONS");
    CHECK(refused.status() == 200);
    CHECK(refused.body.empty());
    CHECK_FALSE(refused.has(kOrigin));
    CHECK(upstream.requests().empty());

    const HttpMessage read = fromOrigin(gateway, "https://a.com");
    CHECK(read.body == "ok");
    CHECK(all(read, kOrigin) == "https://a.com");
    CHECK(all(read, "Access-Control-Max-Age") == "5");  // the upstream's
    CHECK(all(read, "Vary") == "Accept-Encoding Origin");

    CHECK(fromOrigin(gateway, "https://b.com").field(kOrigin) == "*");  // the upstream's own
    CHECK(fromOrigin(gateway, "http://weir.test", "OPTIONS").body == "ok");
    CHECK(all(get(gateway.port(), "/http/a"), "Vary") == "Accept-Encoding Origin");
}

TEST_CASE("an error reply has the CORS headers too, or no browser would show it") {
    const GatewayProcess gateway(withConfig("127.0.0.1:" + std::to_string(unusedPort()), "cross",
                                            "{enabled: true, allowedAnyOrigin: true}"));
    const HttpMessage answer = fromOrigin(gateway, "http://a.com");
    CHECK(answer.status() == 502);
    CHECK(answer.field(kOrigin) == "http://a.com");
    CHECK(answer.field("Vary") == "Origin");
}

TEST_CASE("a plugin's config changes with its data, and one that is refused changes nothing") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(withLocalKey(proxyTo(upstream.address())));
    const LocalCaller caller(gateway);
    CHECK(caller.post(kPluginCall, crossData(R"({"enabled":true,"allowedOrigin":{"origins":["a.com"]}})")).status() ==
          200);
    CHECK(fromOrigin(gateway, "http://a.com").field(kOrigin) == "http://a.com");
    CHECK(fromOrigin(gateway, "http://b.com").field(kOrigin) == std::nullopt);

    const HttpMessage bad =
        caller.post(kPluginCall, crossData(R"({"enabled":true,"allowedOrigin":{"origins":["b.com","x/y"]}})"));
    CHECK(bad.status() == 400);
    CHECK_THAT(bad.body, Contains("plugin 'cross', config: allowedOrigin.origins[1]: expected an origin"));
    CHECK(fromOrigin(gateway, "http://a.com").field(kOrigin) == "http://a.com");
    CHECK(fromOrigin(gateway, "http://b.com").field(kOrigin) == std::nullopt);

    CHECK(caller.post(kPluginCall, crossData(R"({"enabled":true,"allowedAnyOrigin":true})")).status() == 200);
    CHECK(fromOrigin(gateway, "http://b.com").field(kOrigin) == "http://b.com");
    CHECK(caller.post(kPluginCall, crossData("")).status() == 200);  // off, as without data
    CHECK(fromOrigin(gateway, "http://a.com").field(kOrigin) == std::nullopt);
}

TEST_CASE("a rule plugin gets a config that changes while its rules stay") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(std::filesystem::path(WEIR_TEST_FIXTURES) / "configured.so", "configured.so");
    GatewayProcess gateway(withLocalKey(proxyWithRule(upstream.address(), "prefix", "{text: rule}")),
                           folder.arguments());
    const LocalCaller caller(gateway);
    const auto told = [&] {
        REQUIRE(get(gateway.port(), "/http/a").status() == 200);
        return lastRequest(upstream).field("X-Prefixed");
    };
    CHECK(told() == "default-rule");
    CHECK(caller.post(kPluginCall, R"({"id":"prefix","name":"prefix","enabled":true,"config":"{\"text\":\"new\"}"})")
              .status() == 200);
    CHECK(told() == "new-rule");
    CHECK(caller.post(kPluginCall, R"({"id":"prefix","name":"prefix","enabled":true,"config":"[]"})").status() == 400);
    CHECK(told() == "new-rule");
}

TEST_CASE("request edits what the upstream gets, and lines of the answer") {
    const RecordingUpstream upstream([](const HttpMessage&) {
        return RecordingUpstream::ok("ok", "X-Once: 1\r\nX-Twice: 1\r\nX-Once: 2\r\nX-Twice: 2\r\n");
    });
    const GatewayProcess gateway(proxyWithRule(upstream.address(), "request", R"j(
              header: {addHeaders: {X-New: "1"}, setHeaders: {X-Set: b}, replaceHeaderKeys: {X-Old: X-Name},
                       removeHeaderKeys: [X-Gone]}
              parameter: {addParameters: {n: "a b&c"}, removeParameterKeys: [gone]}
              cookie: {setCookies: {sid: "2"}, removeCookieKeys: [gone]}
              preserveHost: true
              requestUniqueHeaders: X-Dup
              requestHeaderUniqueStrategy: RETAIN_LAST
              respUniqueHeaders: X-Once)j"));
    const HttpMessage answer =
        send(gateway, "GET", "/http/a?gone=1&q=%41",
             "X-Set: a\r\nX-Old: o\r\nX-Gone: g\r\nX-Dup: 1\r\nX-Dup: 2\r\nCookie: sid=1; gone=1; k=v\r\n");
    CHECK(answer.status() == 200);
    CHECK(all(answer, "X-Once") == "1");
    CHECK(all(answer, "X-Twice") == "1 2");
    const HttpMessage got = upstream.requests().at(0);
    CHECK(got.startLine == "GET /a?q=%41&n=a%20b%26c HTTP/1.1");
    CHECK(all(got, "X-New") == "1");
    CHECK(all(got, "X-Set") == "b");
    CHECK(all(got, "X-Name") == "o");
    CHECK_FALSE(got.has("X-Old"));
    CHECK_FALSE(got.has("X-Gone"));
    CHECK(all(got, "X-Dup") == "2");
    CHECK(all(got, "Cookie") == "sid=2; k=v");
    CHECK(all(got, "Host") == "weir.test");
}

TEST_CASE("generalContext leaves attachments for the plugin that makes the call") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(std::filesystem::path(WEIR_TEST_FIXTURES) / "configured.so", "configured.so");
    const std::string yaml = proxyWithRule(upstream.address(), "generalContext", R"j(
              dubbo: [{generalContextType: addGeneralContext, generalContextKey: zone, generalContextValue: north},
                      {generalContextType: transmitHeaderToGeneralContext, generalContextKey: X-User,
                       generalContextValue: user},
                      {generalContextType: transmitHeaderToGeneralContext, generalContextKey: X-Absent}]
              sofa: [{generalContextType: addGeneralContext, generalContextKey: zone, generalContextValue: south}])j") +
                             "  - name: attribute\n    config: {attribute: generalContext}\n";
    const GatewayProcess gateway(yaml, folder.arguments());
    const std::string user = "X-User: one\r\nX-User: two\r\n";
    CHECK(send(gateway, "GET", "/http/a", "rpc_type: dubbo\r\n" + user).body == "zone=north|user=one, two|");
    CHECK(send(gateway, "GET", "/http/a", "rpc_type: dubbo\r\n").body == "zone=north|");
    CHECK(send(gateway, "GET", "/other", "rpc_type: dubbo\r\n" + user).body == "none");
    CHECK(send(gateway, "GET", "/http/a", user).body == "ok");  // http has no attachments and goes its way
}

TEST_CASE("editing modules refuse bad settings before anything is served, with the place") {
    struct Row {
        const char* plugin;
        const char* scope;  // config or handle
        const char* value;
        const char* message;
    };
    const Row rows[] = {
        {"cross", "config", "{enabled: true, maxAge: soon}",
         ":23:37: plugin 'cross', config: maxAge: expected a whole number of seconds, found 'soon'"},
        {"cross", "config", "{allowedOrigin: {originRegex: 'a('}}",
         "config: allowedOrigin.originRegex: position 1: not a regular expression"},
        {"request", "handle", "{header: {setHeaders: {Content-Length: 1}}}",
         "rule 'all', handle: header.setHeaders.Content-Length: the gateway writes Content-Length itself"},
        {"request", "handle", R"({header: {addHeaders: {X-A: "1\r\nX-B: 2"}}})",
         "header.addHeaders.X-A: has bytes that the value of a header can not have"},
        {"request", "handle", "{respHeaderUniqueStrategy: ANY}",
         "respHeaderUniqueStrategy: expected one of RETAIN_FIRST, RETAIN_LAST, RETAIN_UNIQUE, found 'ANY'"},
        {"generalContext", "handle", "{dubbo: [{generalContextType: addGeneralContext}]}",
         "dubbo[0].generalContextKey: is required"},
    };
    for (const Row& row : rows) {
        INFO(row.plugin << ": " << row.value);
        const std::string yaml = row.scope == std::string("config")
                                     ? withConfig("127.0.0.1:1", row.plugin, row.value)
                                     : proxyWithRule("127.0.0.1:1", row.plugin, row.value);
        const TempDirectory directory;
        const auto checked = runToEnd(WEIR_BINARY, {"check", "-c", directory.write("weir.yaml", yaml)});
        CHECK(checked.exitCode == 78);
        CHECK_THAT(checked.output, Contains(row.message));
    }
}
