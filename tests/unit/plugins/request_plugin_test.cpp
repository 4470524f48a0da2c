#include "support/catch.hpp"
#include "unit/plugins/edit_host.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::EditExchange;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;

namespace {

struct RequestPlugin : LoadedPlugin {
    RequestPlugin() : LoadedPlugin("request", WEIR_TEST_PLUGINS, weir::test::editHost()) {}
};

}  // namespace

TEST_CASE("request adds, sets, renames and removes headers, in this order") {
    struct Row { const char* header; const char* lines; };
    const Row rows[] = {
        {R"({"addHeaders":{"X-A":"new"}})", "X-A: 1 | x-a: 2 | X-B: 3 | X-A: new"},
        {R"({"setHeaders":{"X-A":"new"}})", "X-B: 3 | X-A: new"},
        {R"({"setHeaders":{"X-A":"","Content-Type":"a/b"}})", "X-B: 3 | X-A:  | Content-Type: a/b"},
        {R"({"replaceHeaderKeys":{"X-A":"X-C","X-D":"X-E"}})", "X-B: 3 | X-C: 1 | X-C: 2"},
        {R"({"replaceHeaderKeys":{"X-A":"X-B"}})", "X-B: 3 | X-B: 1 | X-B: 2"},
        {R"({"removeHeaderKeys":["X-A","","X-None"]})", "X-B: 3"},
        {R"({"addHeaders":{"X-N":"a"},"setHeaders":{"X-N":"b"},"replaceHeaderKeys":{"X-N":"X-M","X-B":"X-K"},)"
         R"("removeHeaderKeys":["X-K","X-A"]})", "X-M: b"},
        {R"({})", "X-A: 1 | x-a: 2 | X-B: 3"},
        {"null", "X-A: 1 | x-a: 2 | X-B: 3"},
    };
    const RequestPlugin plugin;
    for (const Row& row : rows) {
        INFO(row.header);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, std::string("{\"header\":") + row.header + "}");
        INFO(handle.error().whole());
        REQUIRE(handle.ok());
        EditExchange exchange("/", {{"X-A", "1"}, {"x-a", "2"}, {"X-B", "3"}});
        exchange.query = "a=%41";
        CHECK(enter(plugin, exchange, handle.get()) == WEIR_FORWARD);
        CHECK(exchange.lines(WEIR_REQUEST) == row.lines);
        CHECK(exchange.query == "a=%41");
        CHECK_FALSE(exchange.preserveHost);
    }
}

TEST_CASE("request edits the query, encodes what it writes and leaves the rest as it came") {
    struct Row { const char* parameter; const char* query; const char* made; };
    const Row rows[] = {
        {R"({"addParameters":{"a":"1"}})", nullptr, "a=1"},
        {R"({"addParameters":{"a":"1"}})", "", "a=1"},
        {R"({"addParameters":{"a":"1"}})", "a=0&b", "a=0&b&a=1"},
        {R"({"addParameters":{"k y":"&=+#% é\u0000"}})", "x=%zz+", "x=%zz+&k%20y=%26%3D%2B%23%25%20%C3%A9%00"},
        {R"({"addParameters":{"to":"http://h:1/p?q"}})", "", "to=http://h:1/p?q"},
        {R"({"addParameters":{"a":""}})", "", "a="},
        {R"({"setParameters":{"a":"9"}})", "x&a=1&b=2&%61=3", "x&a=9&b=2"},
        {R"({"setParameters":{"a":"9"}})", "b=2", "b=2&a=9"},
        {R"({"setParameters":{"a b":"9"}})", "a+b=1&a%20b=2", "a%20b=9"},
        {R"({"replaceParameterKeys":{"a":"c d"}})", "a=%41&b=2&a", "c%20d=%41&b=2&c%20d"},
        {R"({"replaceParameterKeys":{"none":"x"}})", "a=1", "a=1"},
        {R"({"removeParameterKeys":["a"]})", "a=1&ab=2&%61&b=a", "ab=2&b=a"},
        {R"({"removeParameterKeys":["a"]})", "a=1", "(none)"},
        {R"({"removeParameterKeys":["%"]})", "%=1&%2=2&%25=3&b", "%2=2&b"},
        {R"({"addParameters":{"n":"1"},"setParameters":{"n":"2"},"replaceParameterKeys":{"n":"m"},)"
         R"("removeParameterKeys":["n"]})", "n=0", "m=2"},
        {R"({})", "a=1&&b", "a=1&&b"},
    };
    const RequestPlugin plugin;
    for (const Row& row : rows) {
        INFO(row.parameter << " on " << (row.query ? row.query : "nothing"));
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, std::string("{\"parameter\":") + row.parameter + "}");
        REQUIRE(handle.ok());
        EditExchange exchange("/");
        if (row.query) exchange.query = row.query;
        CHECK(enter(plugin, exchange, handle.get()) == WEIR_FORWARD);
        CHECK(exchange.query.value_or("(none)") == row.made);
    }
}

TEST_CASE("request writes the Cookie header anew") {
    struct Row { const char* cookie; std::vector<std::string> lines; const char* made; };
    const Row rows[] = {
        {R"({"addCookies":{"a":"1"}})", {}, "Cookie: a=1"},
        {R"({"addCookies":{"a":"1"}})", {"a=0;b=\"x y\" ; c"}, "Cookie: a=0; b=\"x y\"; c; a=1"},
        {R"({"setCookies":{"a":"9"}})", {"x=1; a=0", "a=2; A=3"}, "Cookie: x=1; a=9; A=3"},
        {R"({"replaceCookieKeys":{"a":"z"}})", {"a=0; b=1; a=2"}, "Cookie: z=0; b=1; z=2"},
        {R"({"removeCookieKeys":["a"]})", {"a=0; b=1"}, "Cookie: b=1"},
        {R"({"removeCookieKeys":["a"]})", {"a=0"}, ""},
        {R"({"removeCookieKeys":["a"]})", {}, ""},
        {R"({})", {"a=0;b"}, "Cookie: a=0;b"},
    };
    const RequestPlugin plugin;
    for (const Row& row : rows) {
        INFO(row.cookie);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, std::string("{\"cookie\":") + row.cookie + "}");
        REQUIRE(handle.ok());
        EditExchange exchange("/");
        for (const std::string& line : row.lines) exchange.fields[WEIR_REQUEST].emplace_back("Cookie", line);
        CHECK(enter(plugin, exchange, handle.get()) == WEIR_FORWARD);
        CHECK(exchange.lines(WEIR_REQUEST) == row.made);
    }
}

TEST_CASE("request leaves one line of a header, or one for each value, on either side") {
    struct Row { const char* strategy; const char* lines; };
    const Row rows[] = {
        {"RETAIN_FIRST", "X-B: 1 | X-B: 1 | X-A: one"},
        {"RETAIN_LAST", "X-B: 1 | X-B: 1 | X-A: two"},
        {"RETAIN_UNIQUE", "X-B: 1 | X-B: 1 | X-A: one | X-A: two"},
    };
    const EditExchange::Fields fields = {{"x-a", "one"}, {"X-B", "1"}, {"X-A", "two"}, {"X-B", "1"}, {"X-A", "one"},
                                         {"X-A", "two"}};
    const RequestPlugin plugin;
    for (const Row& row : rows) {
        INFO(row.strategy);
        const LoadedHandle request(plugin, WEIR_SCOPE_RULE, std::string(R"({"requestHeaderUniqueStrategy":")") +
                                                                row.strategy +
                                                                R"(","requestUniqueHeaders":" X-A ;;X-None"})");
        REQUIRE(request.ok());
        EditExchange exchange("/", fields);
        CHECK(enter(plugin, exchange, request.get()) == WEIR_FORWARD);
        CHECK(exchange.lines(WEIR_REQUEST) == row.lines);

        const LoadedHandle response(plugin, WEIR_SCOPE_RULE, std::string(R"({"respHeaderUniqueStrategy":")") +
                                                                 row.strategy + R"(","respUniqueHeaders":"X-A"})");
        REQUIRE(response.ok());
        EditExchange answered("/", fields);
        weir_match match{};
        match.size = sizeof match;
        match.rule = response.get();
        weir_outcome outcome{};
        CHECK(plugin.table().enter(plugin.plugin(), &answered, &match, &outcome) == WEIR_FORWARD);
        REQUIRE(outcome.frame);
        answered.fields[WEIR_RESPONSE] = fields;
        const weir_event event{sizeof event, WEIR_EVENT_RETURNED, 0, WEIR_NEXT_OK, {}};
        CHECK(plugin.table().resume(plugin.plugin(), &answered, outcome.frame, &event, &outcome) == WEIR_DONE);
        CHECK(answered.lines(WEIR_RESPONSE) == row.lines);
        CHECK(answered.fields[WEIR_REQUEST] == fields);
    }
}

TEST_CASE("request keeps the client's Host when it is told so") {
    const RequestPlugin plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, R"({"preserveHost":true})");
    EditExchange exchange("/");
    CHECK(enter(plugin, exchange, handle.get()) == WEIR_FORWARD);
    CHECK(exchange.preserveHost);
}

TEST_CASE("request refuses what HTTP forbids and what the gateway writes itself, with its place") {
    struct Row { const char* handle; const char* message; };
    const Row rows[] = {
        {R"({"header":{"addHeaders":{"X A":"1"}}})",
         "header.addHeaders.X A: expected the name of a header, found 'X A'"},
        {R"({"header":{"addHeaders":{"":"1"}}})", "header.addHeaders.: expected the name of a header, found ''"},
        {R"({"header":{"setHeaders":{"X-A":"1\r\nX-B: 2"}}})",
         "header.setHeaders.X-A: has bytes that the value of a header can not have"},
        {R"({"header":{"setHeaders":{"content-length":"1"}}})",
         "header.setHeaders.content-length: the gateway writes content-length itself"},
        {R"({"header":{"replaceHeaderKeys":{"X-A":"Transfer-Encoding"}}})",
         "header.replaceHeaderKeys.X-A: the gateway writes Transfer-Encoding itself"},
        {R"({"header":{"replaceHeaderKeys":{"Connection":"X-A"}}})",
         "header.replaceHeaderKeys.Connection: the gateway writes Connection itself"},
        {R"({"header":{"removeHeaderKeys":["X-A","Connection"]}})",
         "header.removeHeaderKeys[1]: the gateway writes Connection itself"},
        {R"({"header":{"addHeaders":{"Host":"a"}}})",
         "header.addHeaders.Host: the gateway decides itself whether the upstream gets Host, and which"},
        {R"({"header":{"addHeaders":{"X_Forwarded_Proto":"https"}}})",
         "header.addHeaders.X_Forwarded_Proto: the gateway decides itself whether the upstream gets X_Forwarded_Proto, "
         "and which"},
        {R"({"header":{"setHeaders":{"Content_Type":"a/b"}}})",
         "header.setHeaders.Content_Type: the gateway decides itself whether the upstream gets Content_Type, and "
         "which"},
        {R"({"parameter":{"setParameters":{"":"1"}}})",
         "parameter.setParameters: a parameter needs a name, found one without (value '1')"},
        {R"({"cookie":{"addCookies":{"a":"1; b=2"}}})",
         "cookie.addCookies.a: has bytes that the value of a cookie can not have"},
        {R"({"cookie":{"setCookies":{"a=b":"1"}}})",
         "cookie.setCookies.a=b: expected the name of a cookie, found 'a=b'"},
        {R"({"cookie":{"replaceCookieKeys":{"a":"b;c"}}})",
         "cookie.replaceCookieKeys.a: expected the name of a cookie, found 'b;c'"},
        {R"({"requestUniqueHeaders":"X-A;X B"})", "requestUniqueHeaders: expected the name of a header, found 'X B'"},
        {R"({"respUniqueHeaders":"Content-Length"})", "respUniqueHeaders: the gateway writes Content-Length itself"},
        {R"({"respHeaderUniqueStrategy":"RETAIN"})",
         "respHeaderUniqueStrategy: expected one of RETAIN_FIRST, RETAIN_LAST, RETAIN_UNIQUE, found 'RETAIN'"},
        {R"({"header":{"addHeaders":["X-A"]}})", "header.addHeaders: expected a map of texts, found a list"},
    };
    const RequestPlugin plugin;
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
}
