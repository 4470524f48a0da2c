// The modules that edit bodies, through the binary: modifyResponse and paramMapping.
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/deflated.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/temp_directory.hpp"

using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

std::string post(const std::string& fields, const std::string& body) {
    return "POST /http/a HTTP/1.1\r\nHost: a\r\n" + fields + "Content-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

std::string request(const std::string& method, const std::string& path, const std::string& fields = "") {
    return method + " " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

std::string gzip(const std::string& text) { return deflated(text, kGzip); }

void checkRefused(const std::string& plugin, const std::string& handle, const std::string& message) {
    INFO(handle);
    const TempDirectory directory;
    const auto checked =
        runToEnd(WEIR_BINARY, {"check", "-c",
                               directory.write("weir.yaml", proxyWithRule("127.0.0.1:1", plugin, handle))});
    CHECK(checked.exitCode == 78);
    CHECK_THAT(checked.output, Contains("plugin '" + plugin + "'") && Contains(message));
}

// One JSON text of that many bytes.
std::string jsonOf(std::size_t bytes) { return R"({"a":")" + std::string(bytes - 8, 'x') + R"("})"; }

}  // namespace

// ---- modifyResponse ----

TEST_CASE("modifyResponse edits headers and status of what the upstream and the gateway answer, and leaves bodies") {
    RecordingUpstream upstream(
        [](const HttpMessage&) { return RecordingUpstream::ok("ok", "X-Old: 1\r\nServer: x\r\nX-Gone: 1\r\n"); });
    const GatewayProcess gateway(
        proxyWithRule(upstream.address(), "modifyResponse",
             R"j({addHeaders: {X-Old: "2"}, setHeaders: {Server: y}, replaceHeaderKeys: {X-None: a, x-old: b},)j"
             R"j( removeHeaderKeys: [X-Gone], statusCode: 202})j"));
    const HttpMessage answer = get(gateway.port(), "/http/a");
    CHECK(answer.status() == 202);
    CHECK(answer.field("X-Old") == "b");
    CHECK(answer.count("X-Old") == 1);
    CHECK(answer.field("Server") == "y");
    CHECK(answer.count("X-None") == 0);
    CHECK(answer.count("X-Gone") == 0);
    CHECK(answer.body == "ok");
}

TEST_CASE("modifyResponse edits a JSON body, coded or in chunks, and sends its length") {
    struct Row {
        const char* what;
        std::string fields;
        std::string body;
    };
    const std::string json = R"({"user":{"name":"a","id":1.50},"secret":2,"list":[{"x":1},{"x":2}]})";
    const std::string coded = gzip(json);
    const Row rows[] = {
        {"plain", "Content-Length: " + std::to_string(json.size()), json},
        {"gzip", "Content-Encoding: gzip\r\nContent-Length: " + std::to_string(coded.size()), coded},
        {"chunks", "Transfer-Encoding: chunked", "2\r\n{\"\r\n41\r\n" + json.substr(2) + "\r\n0\r\n\r\n"},
        {"until close", "Connection: close", json},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        RecordingUpstream upstream([&row](RecordingUpstream::Connection& connection) {
            if (!connection.next()) return;
            connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Type: application/json\r\n" + row.fields +
                            "\r\n\r\n" + row.body);
        });
        const GatewayProcess gateway(
            proxyWithRule(upstream.address(), "modifyResponse",
                 R"j({addBodyKeys: [{path: $.user, key: k, value: v}], replaceBodyKeys: [{path: $.user, key: name,)j"
                 R"j( value: nick}], removeBodyKeys: [$.secret, "$.list[*].x"]})j"));
        const HttpMessage answer = get(gateway.port(), "/http/a");
        CHECK(answer.status() == 200);
        CHECK(answer.body == R"({"user":{"id":1.50,"k":"v","nick":"a"},"list":[{},{}]})");
        CHECK(answer.field("Content-Length") == std::to_string(answer.body.size()));
        CHECK(answer.count("Content-Encoding") == 0);
        CHECK(answer.count("Transfer-Encoding") == 0);
        CHECK(answer.field("ETag") == "W/\"1\"");
    }
}

TEST_CASE("a body that modifyResponse can not edit passes unchanged, and is told of once") {
    struct Row {
        const char* what;
        std::string fields;
        std::string body;
        const char* warning;  // "": none
    };
    const Row rows[] = {
        {"no JSON", "", "<html>", "it is not JSON"},
        {"cut JSON", "", "{\"a\":", "it is not JSON"},
        {"too long", "", jsonOf(2000), "longer than maxBodyBytes (1000)"},
        {"too long decoded", "Content-Encoding: gzip\r\n", gzip(jsonOf(5000)), "can not be decoded"},
        {"another coding", "Content-Encoding: br\r\n", "xx", "Content-Encoding 'br' can not be decoded"},
        {"an image", "Content-Type: image/png\r\n", "{\"a\":1}", ""},
        {"empty", "", "", ""},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        RecordingUpstream upstream([&row](const HttpMessage&) { return RecordingUpstream::ok(row.body, row.fields); });
        GatewayProcess gateway(
            proxyWithRule(upstream.address(), "modifyResponse", R"j({removeBodyKeys: [$.a], maxBodyBytes: 1000})j"));
        for (int i = 0; i < 3; ++i) {
            const HttpMessage answer = get(gateway.port(), "/http/a");
            CHECK(answer.status() == 200);
            CHECK(answer.body == row.body);
        }
        gateway.stop();
        const std::string log = gateway.process().output();
        const std::size_t first = log.find("stays as it is");
        CHECK((first == std::string::npos) == (row.warning[0] == '\0'));
        if (row.warning[0]) CHECK_THAT(log, Contains(row.warning));
        CHECK((first == std::string::npos || log.find("stays as it is", first + 1) == std::string::npos));
    }
}

TEST_CASE("modifyResponse lets a stream through chunk by chunk, also one that turns out too long") {
    for (const char* type : {"text/event-stream", "application/json"}) {
        INFO(type);
        Gate gate;
        RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
            if (!connection.next()) return;
            connection.send(std::string("HTTP/1.1 200 OK\r\nContent-Type: ") + type +
                            "\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, 'x') + "\r\n");
            if (gate.wait()) connection.send("3\r\nend\r\n0\r\n\r\n");
        });
        const GatewayProcess gateway(
            proxyWithRule(upstream.address(), "modifyResponse", R"j({removeBodyKeys: [$.a], maxBodyBytes: 1000})j"));
        RawClient client(gateway.port());
        client.send(request("GET", "/http/a"));
        CHECK_THAT(client.receiveThrough("xxx"), Contains("200 OK"));
        gate.open();
        CHECK_THAT(client.receiveThrough("0\r\n\r\n"), Contains("end"));
    }
}

TEST_CASE("a response to HEAD keeps its length through modifyResponse, and the connection serves the next request") {
    RecordingUpstream upstream([](const HttpMessage& asked) {
        if (asked.startLine.starts_with("HEAD")) return std::string("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
        return RecordingUpstream::ok(R"({"a":1,"b":2})");
    });
    const GatewayProcess gateway(proxyWithRule(upstream.address(), "modifyResponse", R"j({removeBodyKeys: [$.a]})j"));
    RawClient client(gateway.port());
    client.send(request("HEAD", "/http/a"));
    CHECK_THAT(client.receiveThrough("\r\n\r\n"), Contains("Content-Length: 1234\r\n"));
    CHECK(client.exchange(request("GET", "/http/a")).body == R"({"b":2})");
}

TEST_CASE("an upstream that breaks off while modifyResponse reads is a 502, one that is silent a 502 in time") {
    for (const bool silent : {false, true}) {
        INFO(silent);
        RecordingUpstream upstream([silent](RecordingUpstream::Connection& connection) {
            if (!connection.next()) return;
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"a\":");
            if (silent) connection.next();  // until the gateway gives up
        });
        const GatewayProcess gateway(
            proxyWithRule(upstream.address(), "modifyResponse", R"j({removeBodyKeys: [$.a]})j"),
            {"--upstream.bodyTimeout=300ms"});
        const HttpMessage answer = get(gateway.port(), "/http/a");
        CHECK(answer.status() == 502);
        CHECK_THAT(answer.body, Contains("\"code\":-103"));
    }
}

TEST_CASE("an upstream that answers early and breaks off while the client still sends is a 502") {
    for (const bool silent : {false, true}) {
        INFO(silent);
        RecordingUpstream upstream([silent](RecordingUpstream::Connection& connection) {
            connection.receiveThrough("0123456789");
            connection.send("HTTP/1.1 413 Too Much\r\nContent-Length: 100\r\n\r\n{\"a\":");
            if (silent) connection.receiveThrough("never");
            else connection.resetOnClose();
        });
        const GatewayProcess gateway(
            proxyWithRule(upstream.address(), "modifyResponse", R"j({removeBodyKeys: [$.a]})j"),
            {"--upstream.bodyTimeout=300ms"});
        RawClient client(gateway.port());
        client.send("POST /http/a HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n0123456789");
        CHECK_THAT(client.receiveThrough("\r\n\r\n"), Contains("502"));
        CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    }
}

TEST_CASE("a modifyResponse handle that could not work is refused with its place") {
    checkRefused("modifyResponse", R"j({addHeaders: {"a b": x}})j",
                 "addHeaders.a b: expected the name of a header, found 'a b'");
    checkRefused("modifyResponse", R"j({setHeaders: {Content-Length: "1"}})j",
                 "setHeaders.Content-Length: the gateway writes Content-Length itself");
    checkRefused("modifyResponse", R"j({setHeaders: {X: "a\nb"}})j",
                 "setHeaders.X: has bytes that the value of a header can not have");
    checkRefused("modifyResponse", R"j({removeBodyKeys: [$.a, "$.b["]})j", "removeBodyKeys[1]: ");
    checkRefused("modifyResponse", R"j({addBodyKeys: [{path: "$[?(@.a)]", key: a, value: b}]})j",
                 "addBodyKeys[0].path: ");
    checkRefused("modifyResponse", R"j({statusCode: 100})j", "statusCode: expected 0 or a final status");
}

// ---- paramMapping ----

TEST_CASE("paramMapping edits the bodies of JSON and of forms, and leaves others") {
    struct Row {
        const char* fields;
        std::string body;
        std::string forwarded;
    };
    const Row rows[] = {
        {"Content-Type: application/json\r\n", R"({"a":{"n":1e2},"old":[1],"gone":1})",
         R"({"a":{"n":1e2,"k":"v w"},"new":[1]})"},
        {"Content-Type: Application/JSON ; charset=utf-8\r\n", R"({"gone":1})", "{}"},
        {"Content-Type: application/x-www-form-urlencoded\r\n", "x=1&old=a%20b&x=2&gone=3&%24where=1&%c3%a9=%C3%A9",
         "x=1&x=2&%C3%A9=%C3%A9&new=a+b"},
        {"Content-Type: application/json\r\n", R"({"$where":1,"a":{"$where":2}})", R"({"a":{"$where":2,"k":"v w"}})"},
        {"Content-Type: text/plain\r\n", R"({"gone":1})", R"({"gone":1})"},
        {"", R"({"gone":1})", R"({"gone":1})"},
        {"Content-Type: application/json\r\n", "", ""},
    };
    RecordingUpstream upstream;
    const GatewayProcess gateway(
        proxyWithRule(upstream.address(), "paramMapping",
             R"j({addParameterKeys: [{path: $.a, key: k, value: "v w"}], replaceParameterKeys: [{path: $, key: old,)j"
             R"j( value: new}], removeParameterKeys: [$.gone, "$['$where']"]})j"));
    std::size_t sent = 0;
    for (const Row& row : rows) {
        INFO(row.fields << row.body);
        CHECK(RawClient(gateway.port()).exchange(post(row.fields, row.body)).status() == 200);
        const HttpMessage seen = upstream.requests().at(sent++);
        CHECK(seen.body == row.forwarded);
        CHECK(seen.field("Content-Length") == std::to_string(row.forwarded.size()));
    }
    const std::string coded = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
    CHECK(RawClient(gateway.port()).exchange(post(coded, gzip(R"({"gone":1,"b":2})"))).status() == 200);
    CHECK(upstream.requests().at(sent).body == R"({"b":2})");
    CHECK(upstream.requests().at(sent).count("Content-Encoding") == 0);
}

TEST_CASE("paramMapping adds a field to a form as one more list") {
    RecordingUpstream upstream;
    const GatewayProcess gateway(
        proxyWithRule(upstream.address(), "paramMapping",
             R"j({addParameterKeys: [{path: $, key: "k&", value: "1=2"}], removeParameterKeys: ["$.x[0]"]})j"));
    CHECK(RawClient(gateway.port())
              .exchange(post("Content-Type: application/x-www-form-urlencoded\r\n", "x=1&x=2&y"))
              .status() == 200);
    CHECK(upstream.requests().at(0).body == "x=2&y=&k%26=1%3D2");
}

TEST_CASE("a body of any size up to the limit is mapped, a longer one is 413, a broken one 400 or 415") {
    RecordingUpstream upstream;
    const GatewayProcess gateway(
        proxyWithRule(upstream.address(), "paramMapping",
                      R"j({removeParameterKeys: [$.none], maxBodyBytes: 1000000})j"));
    const std::string json = "Content-Type: application/json\r\n";
    std::size_t sent = 0;
    for (const std::size_t kilobytes : {255, 257, 900}) {
        const std::string body = jsonOf(kilobytes * 1024);
        CHECK(RawClient(gateway.port()).exchange(post(json, body)).status() == 200);
        CHECK(upstream.requests().at(sent++).body == body);
    }
    CHECK(RawClient(gateway.port()).exchange(post(json, jsonOf(1000001))).status() == 413);
    CHECK(RawClient(gateway.port()).exchange(post(json, "{\"a\":")).status() == 400);
    CHECK(RawClient(gateway.port()).exchange(post("Content-Type: text/plain\r\n" + json, "{}")).status() == 400);
    std::string many = "[0";
    for (int i = 0; i < 200000; ++i) many += ",0";
    CHECK(RawClient(gateway.port()).exchange(post(json, many + "]")).status() == 400);
    CHECK(RawClient(gateway.port()).exchange(post(json + "Content-Encoding: br\r\n", "x")).status() == 415);
    const std::string bomb = gzip(jsonOf(1000001));
    CHECK(RawClient(gateway.port()).exchange(post(json + "Content-Encoding: gzip\r\n", bomb)).status() == 415);
    CHECK(upstream.requests().size() == sent);
}

TEST_CASE("a paramMapping handle that could not work is refused with its place") {
    checkRefused("paramMapping", R"j({addParameterKeys: [{path: "$..", key: a, value: b}]})j",
                 "addParameterKeys[0].path: ");
    checkRefused("paramMapping", R"j({addParameterKeys: [{path: $, value: b}]})j",
                 "addParameterKeys[0].key: is required");
    checkRefused("paramMapping", R"j({removeParameterKeys: ["$.a[1:2]"]})j", "removeParameterKeys[0]: ");
}
