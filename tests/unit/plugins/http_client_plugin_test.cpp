#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;
using weir::test::LoadedPlugin;

TEST_CASE("httpClient answers 404 when no proxy plugin chose a route") {
    const LoadedPlugin client("httpClient");
    FakeExchange exchange("/");
    CHECK(enter(client, exchange) == WEIR_REPLY);
    CHECK(exchange.status == 404);
    CHECK(exchange.errorCode == -106);
    CHECK(exchange.body == "Can not find url, please check your configuration!");
    CHECK(exchange.calls == 0);
}

TEST_CASE("httpClient repeats a call only while the connection is refused, then goes on with the chain") {
    struct Row { unsigned retry; std::vector<int> results; };
    const Row rows[] = {
        {3, {WEIR_CALL_OK}},
        {3, {WEIR_CALL_TIMEOUT}},
        {3, {WEIR_CALL_RESET}},
        {3, {WEIR_CALL_BAD_REPLY}},
        {0, {WEIR_CALL_REFUSED}},
        {3, {WEIR_CALL_REFUSED, WEIR_CALL_OK}},
        {3, {WEIR_CALL_REFUSED, WEIR_CALL_REFUSED, WEIR_CALL_REFUSED, WEIR_CALL_REFUSED}},
        {3, {WEIR_CALL_CONNECT_TIMEOUT}},
        {3, {WEIR_CALL_UNRESOLVED}},
        {3, {WEIR_CALL_REFUSED, WEIR_CALL_RESET}},
    };
    const LoadedPlugin client("httpClient");
    for (const Row& row : rows) {
        INFO("retry " << row.retry << ", " << row.results.size() << " calls");
        FakeExchange exchange("/");
        exchange.route.emplace();
        exchange.route->retry = row.retry;
        weir_outcome outcome{};
        int answer = client.table().enter(client.plugin(), &exchange, nullptr, &outcome);
        for (int result : row.results) {
            REQUIRE(answer == WEIR_SUSPENDED);
            REQUIRE(outcome.frame);
            weir_event event{sizeof event, WEIR_EVENT_COMPLETED, 1, result, {}};
            answer = client.table().resume(client.plugin(), &exchange, outcome.frame, &event, &outcome);
        }
        CHECK(answer == WEIR_FORWARD);
        CHECK(exchange.calls == static_cast<int>(row.results.size()));
        REQUIRE(outcome.frame);
        weir_event event{sizeof event, WEIR_EVENT_RETURNED, 0, WEIR_NEXT_OK, {}};
        CHECK(client.table().resume(client.plugin(), &exchange, outcome.frame, &event, &outcome) == WEIR_DONE);
        CHECK(outcome.frame == nullptr);
    }
}
