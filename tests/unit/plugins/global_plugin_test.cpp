#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;

TEST_CASE("global tells the rpc type by header, then by Upgrade, else http") {
    struct Row { FakeExchange::Fields fields; const char* type; const char* module; const char* method; };
    const Row rows[] = {
        {{}, "http", "divide-http", "/a/b"},
        {{{"Upgrade", "websocket"}}, "websocket", "websocket-websocket", "/a/b"},
        {{{"Upgrade", "WebSocket"}}, "http", "divide-http", "/a/b"},
        {{{"Upgrade", "websocket, x"}}, "http", "divide-http", "/a/b"},
        {{{"RPC_TYPE", "http"}, {"Upgrade", "websocket"}}, "http", "divide-http", "/a/b"},
        {{{"rpc_type", "dubbo"}}, "dubbo", "(unset)", "(unset)"},
        {{{"rpc_type", ""}, {"upgrade", "websocket"}}, "websocket", "websocket-websocket", "/a/b"},
    };
    const weir::test::LoadedPlugin global("global");
    for (const Row& row : rows) {
        INFO(row.type);
        FakeExchange exchange("/a/b", row.fields);
        CHECK(enter(global, exchange) == WEIR_FORWARD);
        CHECK(exchange.slot(WEIR_SLOT_RPC_TYPE) == row.type);
        CHECK(exchange.slot(WEIR_SLOT_MODULE) == row.module);
        CHECK(exchange.slot(WEIR_SLOT_METHOD) == row.method);
        CHECK(exchange.slot(WEIR_SLOT_REAL_URL) == "/a/b");
    }
}
