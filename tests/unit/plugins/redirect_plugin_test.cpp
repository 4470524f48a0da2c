#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;

TEST_CASE("redirect answers with the place, dispatches a path, and lets pass without either") {
    struct Row { const char* handle; int answer; int status; const char* location; const char* target; };
    const Row rows[] = {
        {"", WEIR_FORWARD, 0, "(none)", "(none)"},
        {R"j({})j", WEIR_FORWARD, 0, "(none)", "(none)"},
        {R"j({"redirectURI":" \t","httpStatusCode":301})j", WEIR_FORWARD, 0, "(none)", "(none)"},
        {R"j({"redirectURI":"https://a.example/x?y=%41#z"})j", WEIR_REPLY, 302, "https://a.example/x?y=%41#z",
         "(none)"},
        {R"j({"redirectURI":" relative ","httpStatusCode":308})j", WEIR_REPLY, 308, "relative", "(none)"},
        {R"j({"redirectURI":"http://[::1]:80/","httpStatusCode":301})j", WEIR_REPLY, 301, "http://[::1]:80/", "(none)"},
        {R"j({"redirectURI":"/a/b?c"})j", WEIR_REPLY, 0, "(none)", "/a/b?c"},
        {R"j({"redirectURI":"/a","httpStatusCode":307})j", WEIR_REPLY, 0, "(none)", "/a"},
    };
    const LoadedPlugin plugin("redirect");
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        INFO(handle.error().whole());
        REQUIRE(handle.ok());
        FakeExchange exchange;
        CHECK(enter(plugin, exchange, handle.get()) == row.answer);
        CHECK(exchange.status == row.status);
        CHECK(exchange.body.empty());
        CHECK(exchange.field(WEIR_RESPONSE, "Location") == row.location);
        CHECK(exchange.field(WEIR_RESPONSE, "Content-Type") == "(none)");
        CHECK(exchange.target.value_or("(none)") == row.target);
    }
}

TEST_CASE("redirect refuses what is no URI and no status of a redirect") {
    struct Row { const char* handle; const char* message; };
    const Row rows[] = {
        {R"j({"redirectURI":"http://a/b c"})j",
         "redirectURI: 'http://a/b c' has a byte that no URI has at position 11"},
        {R"j({"redirectURI":"http://a/\r\nX: y"})j",
         "redirectURI: 'http://a/\r\nX: y' has a byte that no URI has at position 10"},
        {R"j({"redirectURI":"/ä"})j", "redirectURI: '/ä' has a byte that no URI has at position 2"},
        {R"j({"redirectURI":"/{id}"})j", "redirectURI: '/{id}' has a byte that no URI has at position 2"},
        {R"j({"redirectURI":"/a%4"})j",
         "redirectURI: '/a%4' has a '%' without two hexadecimal digits behind it at position 3"},
        {R"j({"redirectURI":"http://a/%zz"})j",
         "redirectURI: 'http://a/%zz' has a '%' without two hexadecimal digits behind it at position 10"},
        {R"j({"redirectURI":"/a#b"})j",
         "redirectURI: '/a#b' has a fragment ('#'), which only a client can follow, at position 3"},
        {R"j({"redirectURI":"http://a/","httpStatusCode":200})j",
         "httpStatusCode: expected a whole number from 300 to 399, found '200'"},
        {R"j({"redirectURI":["/a"]})j", "redirectURI: expected a text, found a list"},
    };
    const LoadedPlugin plugin("redirect");
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
}
