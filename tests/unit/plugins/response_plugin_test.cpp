#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;

TEST_CASE("response turns a failed call, or none, into the fitting error reply") {
    struct Row { int call; int status; int code; const char* message; };
    const char* const kFailed = "Service invocation exception, or no result is returned!";
    const char* const kTimeout = "Service call timeout!";
    const Row rows[] = {
        {WEIR_CALL_NONE, 502, -103, kFailed},      {WEIR_CALL_REFUSED, 502, -103, kFailed},
        {WEIR_CALL_RESET, 502, -103, kFailed},     {WEIR_CALL_BAD_REPLY, 502, -103, kFailed},
        {WEIR_CALL_UNRESOLVED, 502, -103, kFailed}, {WEIR_CALL_TIMEOUT, 504, -104, kTimeout},
        {WEIR_CALL_CONNECT_TIMEOUT, 504, -104, kTimeout},
    };
    const weir::test::LoadedPlugin response("response");
    for (const Row& row : rows) {
        INFO(row.call);
        FakeExchange exchange("/");
        exchange.call = row.call;
        CHECK(enter(response, exchange) == WEIR_REPLY);
        CHECK(exchange.status == row.status);
        CHECK(exchange.errorCode == row.code);
        CHECK(exchange.body == row.message);
    }
}

TEST_CASE("response leaves a response that is there alone") {
    const weir::test::LoadedPlugin response("response");
    FakeExchange exchange("/");
    exchange.status = 500;
    exchange.call = WEIR_CALL_OK;
    CHECK(enter(response, exchange) == WEIR_FORWARD);
    CHECK_FALSE(exchange.replied);
}
