#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;

TEST_CASE("contextPath cuts, prefixes and keeps as its handle says") {
    struct Row { const char* handle; const char* path; const char* realUrl; const char* contextPath; };
    const Row rows[] = {
        // B01
        {R"({"contextPath":"/order","addPrefix":"/order/v1"})", "/order/findById", "/order/v1/findById", "/order"},
        {R"({"contextPath":"","addPrefix":"/v1"})", "/order/findById", "/v1/order/findById", "(unset)"},
        {R"({"contextPath":"/order","addPrefixed":true})", "/order/findById", "/order/findById", "(unset)"},
        {R"({"contextPath":"/order"})", "/order/findById", "/findById", "/order"},

        {R"({"contextPath":"/order","addPrefix":"/v1","addPrefixed":true})", "/order/x", "/v1/x", "/order"},
        {R"({"contextPath":"/order","addPrefix":"/v1"})", "/order", "/v1/order", "/order"},
        {R"({"contextPath":"/order"})", "/order", "", "/order"},
        {R"({"contextPath":"/order/"})", "/order/x", "/x", "/order"},
        {R"({"contextPath":"/"})", "/order/x", "/order/x", ""},
        {R"({"contextPath":" /order "})", "/order/x", "/x", "/order"},
        {R"({"contextPath":" "})", "/order/x", "", "(unset)"},
        {R"({})", "/order/x", "", "(unset)"},
        {"", "/order/x", "", "(unset)"},
        // not a prefix, or not at a segment's end: the plugin does nothing
        {R"({"contextPath":"/order"})", "/other/x", "(unset)", "(unset)"},
        {R"({"contextPath":"/order","addPrefix":"/v1"})", "/orders/x", "(unset)", "(unset)"},
        {R"({"contextPath":"/a/very/long/context"})", "/a", "(unset)", "(unset)"},
    };
    const LoadedPlugin plugin("contextPath");
    for (const Row& row : rows) {
        INFO(row.handle << " on " << row.path);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        REQUIRE(handle.ok());
        FakeExchange exchange(row.path);
        CHECK(enter(plugin, exchange, handle.get()) == WEIR_FORWARD);
        CHECK(exchange.slot(WEIR_SLOT_REAL_URL) == row.realUrl);
        CHECK(exchange.slot(WEIR_SLOT_CONTEXT_PATH) == row.contextPath);
        CHECK(exchange.slot(WEIR_SLOT_REWRITE_CONTEXT_PATH) == "(unset)");
    }
}

TEST_CASE("rewriteContextPath is set for the given percentage of requests") {
    struct Row { int percentage; int least; int most; };
    const Row rows[] = {{0, 0, 0}, {30, 2700, 3300}, {100, 10000, 10000}};  // 3 in 10 of 10,000: 300 is over 6 sigma
    const LoadedPlugin plugin("contextPath");
    for (const Row& row : rows) {
        INFO(row.percentage);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE,
                                  R"({"contextPath":"/a","rewriteContextPath":"/b","percentage":)" +
                                      std::to_string(row.percentage) + "}");
        REQUIRE(handle.ok());
        int set = 0;
        for (int i = 0; i < 10000; ++i) {
            FakeExchange exchange("/a/x");
            enter(plugin, exchange, handle.get());
            set += exchange.slot(WEIR_SLOT_REWRITE_CONTEXT_PATH) == "/b";
        }
        CHECK(set >= row.least);
        CHECK(set <= row.most);
    }
}

TEST_CASE("contextPath refuses handles that would make a target without a slash") {
    struct Row { const char* handle; const char* message; };
    const Row rows[] = {
        {R"({"contextPath":"order"})", "contextPath: expected a path that begins with '/', found 'order'"},
        {R"({"addPrefix":"v1"})", "addPrefix: expected a path that begins with '/', found 'v1'"},
        {R"({"rewriteContextPath":"b"})", "rewriteContextPath: expected a path that begins with '/', found 'b'"},
        {R"({"percentage":101})", "percentage: expected a whole number from 0 to 100, found '101'"},
    };
    const LoadedPlugin plugin("contextPath");
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
}
