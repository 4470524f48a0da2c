// contextPath and rewrite through the binary: what the upstream is asked for, and what is refused before anything is
// served.
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

// contextPath with that handle, and an upstream, for all requests.
std::string withContextPath(const std::string& upstream, const std::string& handle) {
    const std::string all = "conditions: [{paramType: uri, operator: startsWith, paramValue: /}]";
    return R"(weir: {extPlugin: {enabled: false}}
plugins:
  - name: contextPath
    selectors: [{name: all, )" + all + ", rules: [{name: all, handle: " + handle + R"(}]}]
  - name: divide
    selectors: [{name: all, )" + all + ", handle: [{upstreamUrl: \"" + upstream + "\"}], rules: [{name: all}]}]\n";
}

}  // namespace

TEST_CASE("B01: contextPath and its prefixes give the upstream the path that the handle says") {
    struct Row {
        const char* handle;
        const char* forwarded;
    };
    const Row rows[] = {
        {"{contextPath: /order, addPrefix: /order/v1}", "/order/v1/findById"},
        {R"({contextPath: "", addPrefix: /v1})", "/v1/order/findById"},
        {"{contextPath: /order, addPrefixed: true}", "/order/findById"},
        {"{contextPath: /order}", "/findById"},
    };
    for (const auto& row : rows) {
        INFO(row.handle);
        RecordingUpstream upstream;
        const GatewayProcess gateway(withContextPath(upstream.address(), row.handle));
        CHECK(get(gateway.port(), "/order/findById").status() == 200);
        CHECK(upstream.requests().at(0).startLine == std::string("GET ") + row.forwarded + " HTTP/1.1");
    }
}

TEST_CASE("a contextPath that could not work is refused with its place") {
    const TempDirectory directory;
    const std::string yaml = withContextPath("127.0.0.1:1", "{addPrefix: v1}");
    const auto checked = runToEnd(WEIR_BINARY, {"check", "-c", directory.write("weir.yaml", yaml)});
    CHECK(checked.exitCode == 78);
    CHECK_THAT(checked.output, Contains("plugin 'contextPath'") &&
                                   Contains("addPrefix: expected a path that begins with '/', found 'v1'"));
}

TEST_CASE("a rewritten path is what the upstream is asked for, and a path that does not match stays") {
    struct Row {
        const char* handle;
        const char* target;
        const char* forwarded;
    };
    const Row rows[] = {
        {R"j({regex: "/http/a/{id}", replace: "/b/{id}"})j", "/http/a/123?x=%41", "/b/123?x=%41"},
        {R"j({regex: "/http/a/(.*)", replace: "/b/$1"})j", "/http/a/x$y", "/b/x$y"},
        {R"j({regex: "/http/a/(.*)", replace: "/b?id=$1"})j", "/http/a/7?x=1", "/b?id=7&x=1"},
        {R"j({regex: "/http/a/(.*)", replace: "/b c/$1"})j", "/http/a/7", "/b%20c/7"},
        {R"j({regex: "/http/a/{id}", replace: "/b/{id}"})j", "/http/other", "/other"},
        {R"j({regex: "/http/a", replace: "/b", percentage: 0})j", "/http/a", "/a"},
    };
    for (const auto& row : rows) {
        INFO(row.handle << " on " << row.target);
        RecordingUpstream upstream;
        const GatewayProcess gateway(proxyWithRule(upstream.address(), "rewrite", row.handle));
        CHECK(get(gateway.port(), row.target).status() == 200);
        CHECK(upstream.requests().at(0).startLine == std::string("GET ") + row.forwarded + " HTTP/1.1");
    }
}

TEST_CASE("a rewrite that could not work is refused with its place") {
    struct Row {
        const char* handle;
        const char* message;
    };
    const Row rows[] = {
        {R"j({regex: "/a/.*", replace: "/b/{id}"})j", "replace: '/b/{id}' refers to {id}, which regex does not have"},
        {R"j({regex: "/a/(", replace: "/b"})j", "regex: position 1: not a regular expression"},
        {R"j({regex: "/a", replace: "/$1"})j", "replace: '/$1' refers to group 1, but regex has no groups"},
    };
    for (const auto& row : rows) {
        INFO(row.handle);
        const TempDirectory directory;
        const auto checked = runToEnd(
            WEIR_BINARY,
            {"check", "-c", directory.write("weir.yaml", proxyWithRule("127.0.0.1:1", "rewrite", row.handle))});
        CHECK(checked.exitCode == 78);
        CHECK_THAT(checked.output, Contains("plugin 'rewrite'") && Contains(row.message));
    }
}
