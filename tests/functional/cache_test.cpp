// The cache through the binary: what it answers, and what it must not.
#include <atomic>
#include <memory>

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

std::string post(const std::string& body) {
    return "POST /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string request(const std::string& method, const std::string& path, const std::string& fields = "") {
    return method + " " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

// Answers each request with its number, and with what `fields` says.
RecordingUpstream::Reply counting(std::string fields, std::string status = "200 OK") {
    auto count = std::make_shared<std::atomic<int>>(0);
    return [count, fields = std::move(fields), status = std::move(status)](const HttpMessage&) {
        const std::string body = std::to_string(++*count);
        return "HTTP/1.1 " + status + "\r\n" + fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
               body;
    };
}

}  // namespace

TEST_CASE("the cache answers a request again, with its fields, its age and what the client has already") {
    RecordingUpstream upstream(counting("Content-Type: text/x\r\nETag: \"7\"\r\nX-A: 1\r\nX-A: 2\r\n"));
    const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{timeoutSeconds: 60}"));
    RawClient client(gateway.port());
    CHECK(client.exchange(request("GET", "/http/a?x=1")).body == "1");
    const HttpMessage again = client.exchange(request("GET", "/http/a?x=1"));
    CHECK(again.body == "1");
    CHECK(again.field("Content-Type") == "text/x");
    CHECK(again.field("ETag") == "\"7\"");
    CHECK(again.count("X-A") == 2);
    CHECK(again.count("Age") == 1);
    client.send(request("HEAD", "/http/a?x=1"));
    CHECK_THAT(client.receiveThrough("\r\n\r\n"), Contains("200 OK") && Contains("Content-Length: 1\r\n"));
    CHECK(client.exchange(request("GET", "/http/a?x=1", "If-None-Match: W/\"7\"\r\n")).status() == 304);
    CHECK(client.exchange(request("GET", "/http/a?x=1", "If-None-Match: \"8\"\r\n")).body == "1");
    CHECK(client.exchange(request("GET", "/http/a?x=2")).body == "2");
    CHECK(upstream.requests().size() == 2);
}

TEST_CASE("the cache never gives a request another's response") {
    struct Row {
        const char* what;
        const char* fields;  // of the responses
        std::string first;
        std::string second;
    };
    const std::string plain = request("GET", "/http/a");
    const Row rows[] = {
        {"two bodies", "", post("A"), post("B")},
        {"GET after POST", "", post("A"), plain},
        {"GET after HEAD", "", request("HEAD", "/http/a"), plain},
        {"GET after PUT", "", "PUT /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", plain},
        {"two users", "", request("GET", "/http/a", "Authorization: 1\r\n"),
         request("GET", "/http/a", "Authorization: 2\r\n")},
        {"a user after nobody", "", plain, request("GET", "/http/a", "Authorization: 2\r\n")},
        {"two sessions", "", request("GET", "/http/a", "Cookie: s=1\r\n"),
         request("GET", "/http/a", "Cookie: s=2\r\n")},
        {"another host", "", plain, "GET /http/a HTTP/1.1\r\nHost: b\r\n\r\n"},
        {"another query", "", plain, request("GET", "/http/a?")},
        {"no-store", "Cache-Control: max-age=9, no-store\r\n", plain, plain},
        {"private", "cache-control: Private=\"a, b\"\r\n", plain, plain},
        {"no-cache", "Cache-Control: no-cache\r\n", plain, plain},
        {"max-age 0", "Cache-Control: public, max-age=0\r\n", plain, plain},
        {"expired", "Expires: 0\r\n", plain, plain},
        {"a cookie for one", "Set-Cookie: s=1\r\n", plain, plain},
        {"varies by all", "Vary: *\r\n", plain, plain},
        {"varies", "Vary: Accept-Language, X-A\r\n", request("GET", "/http/a", "X-A: 1\r\n"),
         request("GET", "/http/a", "X-A: 2\r\n")},
        {"coded", "Content-Encoding: br\r\n", request("GET", "/http/a", "Accept-Encoding: br\r\n"), plain},
        {"a part", "", plain, request("GET", "/http/a", "Range: bytes=0-0\r\n")},
        {"who wants it fresh", "", plain, request("GET", "/http/a", "Cache-Control: no-cache\r\n")},
        {"who keeps nothing", "", request("GET", "/http/a", "Cache-Control: no-store\r\n"), plain},
        {"a stream", "Content-Type: Text/Event-Stream\r\n", plain, plain},
        {"two bodies of GET", "", request("GET", "/http/a", "Content-Length: 1\r\n") + "A",
         request("GET", "/http/a", "Content-Length: 1\r\n") + "B"},
        {"two hosts of HTTP/1.0", "", "GET http://h1/http/a HTTP/1.0\r\n\r\n", "GET http://h2/http/a HTTP/1.0\r\n\r\n"},
        {"old when it comes", "Cache-Control: max-age=60\r\nAge: 60\r\n", plain, plain},
        {"of an age that can not be read", "Age: x\r\n", plain, plain},
        {"made long ago", "Cache-Control: max-age=60\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n", plain, plain},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        RecordingUpstream upstream(counting(row.fields));
        const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{}"));
        for (const std::string& bytes : {row.first, row.second}) {
            RawClient client(gateway.port());
            client.send(bytes);
            CHECK_THAT(client.receiveThrough("\r\n\r\n"), Contains("200 OK"));
            client.close();
        }
        CHECK(upstream.requests().size() == 2);
    }
}

TEST_CASE("the cache keeps nothing that plugins behind it have made one client's own") {
    const std::string rule = R"(
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**},
                     {paramType: header, paramName: X-Key, operator: "=", paramValue: k1}]
        rules: [{name: all, handle: {header: {setHeaders: {)";
    struct Row {
        const char* what;
        const char* fields;  // of the responses
        const char* put;     // what `request` gives the upstream for the client with the key
    };
    const Row rows[] = {
        {"a user", "", "Authorization: user1"},
        {"a field that Vary names", "Vary: X-Tenant\r\n", "X-Tenant: t1"},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        RecordingUpstream upstream(counting(row.fields));
        const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{}") +
                                     "  - name: request\n    selectors:\n      - name: keyed" + rule + row.put +
                                     "}}}}]\n");
        RawClient client(gateway.port());
        CHECK(client.exchange(request("GET", "/http/a", "X-Key: k1\r\n")).body == "1");
        CHECK(client.exchange(request("GET", "/http/a", "X-Tenant: t1\r\n")).body == "2");
    }
}

TEST_CASE("the cache keeps no answer of the gateway's own, and what came by a redirect under the new path") {
    SECTION("errors, also as a success") {
        for (const char* status : {"weir", "shenyu"}) {
            INFO(status);
            RecordingUpstream upstream(counting(""));
            ProxyConfig config;
            config.upstreams = {{upstream.address()}};
            config.rulePath = "/http/only";  // no rule of divide for the others
            std::string yaml = config.yaml();
            const std::string cache = proxyWithRule("127.0.0.1:1", "cache", "{}");
            yaml += cache.substr(cache.find("  - name: cache"));
            const GatewayProcess gateway(yaml, {std::string("--compat.errorStatus=") + status});
            for (int i = 0; i < 2; ++i) {
                const HttpMessage answer = get(gateway.port(), "/http/other");
                CHECK_THAT(answer.body, Contains("-102"));
                CHECK(answer.count("Age") == 0);
            }
        }
    }
    SECTION("a redirect within the gateway") {
        RecordingUpstream upstream([](const HttpMessage& asked) { return RecordingUpstream::ok(asked.startLine); });
        const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{}") + R"(  - name: redirect
    selectors:
      - name: beta
        conditions: [{paramType: uri, operator: "=", paramValue: /http/page},
                     {paramType: header, paramName: X-Beta, operator: "=", paramValue: "1"}]
        rules: [{name: all, handle: {redirectURI: /http/beta}}]
)");
        RawClient client(gateway.port());
        CHECK(client.exchange(request("GET", "/http/page", "X-Beta: 1\r\n")).body == "GET /beta HTTP/1.1");
        CHECK(client.exchange(request("GET", "/http/page")).body == "GET /page HTTP/1.1");
    }
}

TEST_CASE("a kept response has no fields of one connection, of another client, and no length in a 304") {
    RecordingUpstream upstream(counting("Connection: X-Hop\r\nX-Hop: secret\r\nETag: \"1\"\r\nAge: 7\r\n"));
    const std::string yaml = proxyWithRule(upstream.address(), "cache", "{}");
    const GatewayProcess gateway(
        yaml + "  - name: cross\n    config: {enabled: true, allowedOrigin: {origins: [\"http://a.com\"]}}\n");
    RawClient client(gateway.port());
    const HttpMessage first = client.exchange(request("GET", "/http/a", "Origin: http://a.com\r\n"));
    CHECK(first.field("Access-Control-Allow-Origin") == "http://a.com");
    const HttpMessage again = client.exchange(request("GET", "/http/a", "Origin: http://a.com\r\n"));
    CHECK(again.body == "1");
    CHECK(again.count("X-Hop") == 0);
    CHECK(again.field("Age") == "7");
    CHECK(again.count("Access-Control-Allow-Origin") == 1);
    const HttpMessage other = client.exchange(request("GET", "/http/a", "Origin: http://b.com\r\n"));
    CHECK(other.count("Access-Control-Allow-Origin") == 0);
    client.send(request("GET", "/http/a", "If-None-Match: \"1\"\r\nOrigin: http://a.com\r\n"));
    const std::string head = client.receiveThrough("\r\n\r\n");
    CHECK_THAT(head, Contains("304") && !Contains("Content-Length"));
}

TEST_CASE("the cache gives out what is for everyone, also to who says who he is, until it is changed or old") {
    const std::string plain = request("GET", "/http/a");
    const std::string user = request("GET", "/http/a", "Authorization: 1\r\n");
    SECTION("public") {
        RecordingUpstream upstream(counting("Cache-Control: public\r\n"));
        const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{}"));
        RawClient client(gateway.port());
        CHECK(client.exchange(user).body == "1");
        CHECK(client.exchange(request("GET", "/http/a", "Authorization: 2\r\n")).body == "1");
        CHECK(client.exchange(plain).body == "1");
        CHECK(client.exchange(post("x")).body == "2");
        CHECK(client.exchange(plain).body == "3");
    }
    SECTION("variants") {
        RecordingUpstream upstream(counting("Vary: X-A\r\n"));
        const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{}"));
        RawClient client(gateway.port());
        CHECK(client.exchange(request("GET", "/http/a", "X-A: 1\r\n")).body == "1");
        CHECK(client.exchange(request("GET", "/http/a", "X-A: 2\r\n")).body == "2");
        CHECK(client.exchange(request("GET", "/http/a", "X-A: 1\r\n")).body == "1");
        CHECK(client.exchange(request("GET", "/http/a", "X-A: 2\r\n")).body == "2");
    }
    SECTION("old") {
        RecordingUpstream upstream(counting("Cache-Control: max-age=1\r\n"));
        const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{}"));
        RawClient client(gateway.port());
        CHECK(client.exchange(plain).body == "1");
        CHECK(eventually([&] { return client.exchange(plain).body == "2"; }));
    }
    SECTION("an error that lasts, and one that does not") {
        for (const auto& [status, kept] : {std::pair("404 Not Found", true), std::pair("500 Oops", false),
                                           std::pair("302 Found", false)}) {
            INFO(status);
            RecordingUpstream upstream(counting("", status));
            const GatewayProcess gateway(proxyWithRule(upstream.address(), "cache", "{}"));
            RawClient client(gateway.port());
            CHECK(client.exchange(plain).body == "1");
            CHECK(client.exchange(plain).body == (kept ? "1" : "2"));
        }
    }
}

TEST_CASE("the cache has the bounds of its config: the longest body, and what was used last of all together") {
    RecordingUpstream upstream([](const HttpMessage& asked) {
        return RecordingUpstream::ok(std::string(asked.startLine.find("/long") != std::string::npos ? 1001 : 900, 'x'));
    });
    const std::string yaml = proxyWithRule(upstream.address(), "cache", "{}");
    const std::string config = "  - name: cache\n    config: {maxBytes: 4000, maxBodyBytes: 1000}\n";
    const std::string name = "  - name: cache\n";
    const GatewayProcess gateway(yaml.substr(0, yaml.find(name)) + config + yaml.substr(yaml.find(name) + name.size()));
    RawClient client(gateway.port());
    const auto asked = [&](const std::string& path) {
        const std::size_t before = upstream.requests().size();
        CHECK(client.exchange(request("GET", "/http/" + path)).status() == 200);
        return upstream.requests().size() > before;
    };
    CHECK(asked("long"));
    CHECK(asked("long"));
    CHECK(asked("a"));
    CHECK(asked("b"));
    CHECK_FALSE(asked("a"));
    CHECK(asked("c"));  // a third does not fit: b was not used for longest
    CHECK(asked("d"));
    CHECK_FALSE(asked("d"));
    CHECK(asked("b"));
}

TEST_CASE("a cache handle that could not work is refused with its place") {
    const TempDirectory directory;
    const std::string yaml = proxyWithRule("127.0.0.1:1", "cache", "{timeoutSeconds: 0}");
    const auto checked = runToEnd(WEIR_BINARY, {"check", "-c", directory.write("weir.yaml", yaml)});
    CHECK(checked.exitCode == 78);
    CHECK_THAT(checked.output, Contains("timeoutSeconds: expected a whole number from 1"));
}
