// redirect and mock through the binary: what the client gets, what the upstream is asked for, and what is refused.
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

// A plugin with one rule, for the paths below `path`.
std::string pluginFor(const std::string& name, const std::string& path, const std::string& handle) {
    const std::string condition = "[{paramType: uri, operator: startsWith, paramValue: " + path + "}]";
    return "  - name: " + name + "\n    selectors:\n      - name: all\n        conditions: " + condition +
           "\n        rules:\n          - name: all\n            conditions: " + condition +
           "\n            handle: " + handle + "\n";
}

// For the paths below /http/old.
std::string withRedirect(const std::string& upstream, const std::string& handle) {
    return proxyTo(upstream) + pluginFor("redirect", "/http/old", handle);
}

Finished check(const std::string& yaml) {
    const TempDirectory directory;
    return runToEnd(WEIR_BINARY, {"check", "-c", directory.write("weir.yaml", yaml)});
}

}  // namespace

TEST_CASE("redirect tells the client where to go, with an empty body and nothing asked of the upstream") {
    struct Row {
        const char* handle;
        int status;
        const char* location;
    };
    const Row rows[] = {
        {R"j({redirectURI: "https://other.example/x?y=%41"})j", 302, "https://other.example/x?y=%41"},
        {R"j({redirectURI: "https://other.example/", httpStatusCode: 308})j", 308, "https://other.example/"},
    };
    for (const auto& row : rows) {
        INFO(row.handle);
        RecordingUpstream upstream;
        const GatewayProcess gateway(withRedirect(upstream.address(), row.handle));
        const HttpMessage answer = get(gateway.port(), "/http/old/1");
        CHECK(answer.status() == row.status);
        CHECK(answer.field("Location") == row.location);
        CHECK(answer.field("Content-Length") == "0");
        CHECK(answer.body.empty());
        CHECK(get(gateway.port(), "/http/other").status() == 200);
        CHECK(upstream.requests().size() == 1);
    }
}

TEST_CASE("redirect to a path of the gateway serves that path, and the client sees no redirect") {
    struct Row {
        const char* handle;
        const char* target;
        const char* forwarded;
    };
    const Row rows[] = {
        {R"j({redirectURI: "/http/new"})j", "/http/old/1", "/new"},
        {R"j({redirectURI: "/http/new"})j", "/http/old/1?a=%41", "/new?a=%41"},
        {R"j({redirectURI: "/http/new?b=1"})j", "/http/old?a=1", "/new?b=1"},
        {R"j({redirectURI: " "})j", "/http/old", "/old"},
    };
    for (const auto& row : rows) {
        INFO(row.handle << " on " << row.target);
        RecordingUpstream upstream;
        const GatewayProcess gateway(withRedirect(upstream.address(), row.handle));
        const std::string body = "the body";
        const HttpMessage answer = RawClient(gateway.port()).exchange(
            "POST " + std::string(row.target) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n" + body);
        CHECK(answer.status() == 200);
        CHECK_FALSE(answer.has("Location"));
        REQUIRE(upstream.requests().size() == 1);
        CHECK(upstream.requests()[0].startLine == std::string("POST ") + row.forwarded + " HTTP/1.1");
        CHECK(upstream.requests()[0].body == body);
    }
}

TEST_CASE("redirect to where no selector matches is answered as a request for that place is") {
    const GatewayProcess gateway(withRedirect("127.0.0.1:1", R"j({redirectURI: "/elsewhere"})j"));
    const HttpMessage answer = get(gateway.port(), "/http/old");
    CHECK(answer.status() == 404);
    CHECK_THAT(answer.body, Contains("-107"));
}

TEST_CASE("a redirect that leads to itself ends with 500, and the gateway serves on") {
    RecordingUpstream upstream;
    const GatewayProcess gateway(withRedirect(upstream.address(), R"j({redirectURI: "/http/old"})j"));
    CHECK(get(gateway.port(), "/http/old").status() == 500);
    CHECK(get(gateway.port(), "/http/fine").status() == 200);
    CHECK(upstream.requests().size() == 1);
}

TEST_CASE("explain shows both walks of a redirected request") {
    const TempDirectory directory;
    const auto file = directory.write("weir.yaml", withRedirect("127.0.0.1:1", R"j({redirectURI: "/http/new"})j"));
    const Finished told = runToEnd(WEIR_BINARY, {"explain", "-c", file, "GET /http/old?a=1"});
    INFO(told.output);
    CHECK(told.exitCode == 0);
    CHECK_THAT(told.output, Contains("GET /http/old?a=1, host"));
    CHECK_THAT(told.output, Contains("redirect: entered, selector 'all', rule 'all'\n"));
    CHECK_THAT(told.output, Contains("redirect: sent through the chain again as '/http/new'\n"));
    CHECK_THAT(told.output, Contains("redirect: no selector\n"));
    CHECK_THAT(told.output, Contains("=> 127.0.0.1:1 would be asked for /new?a=1\n"));
}

TEST_CASE("a redirect that could not work is refused with its place") {
    struct Row {
        const char* handle;
        const char* message;
    };
    const Row rows[] = {
        {R"j({redirectURI: "http://a/b c"})j", "redirectURI: 'http://a/b c' has a byte that no URI has at position 11"},
        {R"j({redirectURI: "/a", httpStatusCode: 200})j",
         "httpStatusCode: expected a whole number from 300 to 399, found '200'"},
    };
    for (const auto& row : rows) {
        INFO(row.handle);
        const Finished checked = check(withRedirect("127.0.0.1:1", row.handle));
        CHECK(checked.exitCode == 78);
        CHECK_THAT(checked.output, Contains("plugin 'redirect'") && Contains(row.message));
    }
}

TEST_CASE("mock answers for the upstream, with what the request says and with made up values") {
    struct Row {
        const char* handle;
        int status;
        const char* body;  // a pattern
    };
    const Row rows[] = {
        {R"j({responseContent: '{"id":${int|5-5},"on":${bool},"list":${array|"x"|2}}'})j", 200,
         R"j(\{"id":5,"on":(true|false),"list":\["x","x"\]\})j"},
        {R"j({httpStatusCode: 503, responseContent: '${expression|#req.json.user.name + "@" + #req.queries["q"]}'})j",
         503, R"j("J\\"u@ä b")j"},
        {R"j({httpStatusCode: 201, responseContent: '${expression|#req.method} ${expression|#req.uri}'})j", 201,
         R"j("POST" "http://shop\.example/http/mocked\?q=%c3%a4\+b")j"},
        {R"j({responseContent: '${expression|#req.headers["X-ID"]} ${nope}'})j", 200,
         R"j("7" "\[#ERROR EXPRESSION#\]")j"},
        {R"j({httpStatusCode: 202})j", 202, ""},
    };
    RecordingUpstream upstream;
    for (const auto& row : rows) {
        INFO(row.handle);
        const GatewayProcess gateway(proxyTo(upstream.address()) + pluginFor("mock", "/http/mocked", row.handle));
        const std::string body = R"j({"user":{"name":"J\"u"}})j";
        const HttpMessage answer = RawClient(gateway.port()).exchange(
            "POST /http/mocked?q=%c3%a4+b HTTP/1.1\r\nHost: shop.example\r\nx-id: 7\r\nContent-Length: " +
            std::to_string(body.size()) + "\r\n\r\n" + body);
        CHECK(answer.status() == row.status);
        CHECK(answer.field("Content-Type") == "application/json");
        CHECK_THAT(answer.body, Catch::Matches(row.body));
    }
    CHECK(upstream.requests().empty());
}

TEST_CASE("mock lets pass what it has no handle for, and fails alone when an answer has no end") {
    RecordingUpstream upstream;
    const std::string large = R"(      - name: large
        conditions: [{paramType: uri, operator: startsWith, paramValue: /http/large}]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: startsWith, paramValue: /http/large}]
            handle: {responseContent: '${array|${array|x|10000}|10000}'}
)";
    const GatewayProcess gateway(proxyTo(upstream.address()) + pluginFor("mock", "/http/empty", "{}") + large);
    CHECK(get(gateway.port(), "/http/empty").status() == 200);
    CHECK(upstream.requests().size() == 1);
    CHECK(get(gateway.port(), "/http/large").status() == 500);
    CHECK(get(gateway.port(), "/http/other").status() == 200);
}

TEST_CASE("a mock that reads the body refuses one that is too large, and answers the error text for no JSON") {
    const GatewayProcess gateway(proxyTo("127.0.0.1:1") +
                                 pluginFor("mock", "/http/mocked", "{responseContent: '${expression|#req.json.a}'}"));
    const auto post = [&](const std::string& body) {
        return RawClient(gateway.port()).exchange("POST /http/mocked HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                                  std::to_string(body.size()) + "\r\n\r\n" + body);
    };
    CHECK(post(R"j({"a":[1]})j").body == "[1]");
    CHECK(post("no").body == "\"[#ERROR EXPRESSION#]\"");
    CHECK(post("").body == "null");
    CHECK(post(std::string(1024 * 1024 + 1, ' ')).status() == 413);
}

TEST_CASE("a mock that could not answer is refused, one that would answer an error text is warned of") {
    const auto with = [](const std::string& handle) {
        return proxyTo("127.0.0.1:1") + pluginFor("mock", "/http/a", handle);
    };
    const Finished refused = check(with("{httpStatusCode: 199, responseContent: x}"));
    CHECK(refused.exitCode == 78);
    CHECK_THAT(refused.output, Contains("plugin 'mock'") &&
                                   Contains("httpStatusCode: expected a whole number from 200 to 999, found '199'"));
    const Finished warned = check(with("{responseContent: 'a ${int|9-1} b'}"));
    CHECK(warned.exitCode == 0);
    CHECK_THAT(warned.output, Contains("plugin 'mock': responseContent answers an error text for '${int|9-1}': "
                                       "expected int|a-b, a not above b"));
}
