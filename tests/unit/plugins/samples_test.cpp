#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;
using weir::test::LoadedPlugin;

namespace {

// Enters, lets "the rest of the chain" happen, and returns with `how` it went.
int walk(const LoadedPlugin& plugin, FakeExchange& exchange, void* rule, weir_next how) {
    weir_match match{};
    match.size = sizeof match;
    match.rule = rule;
    weir_outcome outcome{};
    REQUIRE(plugin.table().enter(plugin.plugin(), &exchange, &match, &outcome) == WEIR_FORWARD);
    REQUIRE(outcome.frame);
    const weir_event event{sizeof event, WEIR_EVENT_RETURNED, 0, how, {}};
    return plugin.table().resume(plugin.plugin(), &exchange, outcome.frame, &event, &outcome);
}

}  // namespace

TEST_CASE("the hello sample marks good responses and error replies alike") {
    const LoadedPlugin hello("hello-plugin", WEIR_TEST_SAMPLES);
    for (weir_next how : {WEIR_NEXT_OK, WEIR_NEXT_FAILED}) {
        FakeExchange exchange("/");
        CHECK(walk(hello, exchange, nullptr, how) == WEIR_DONE);
        CHECK(exchange.field(WEIR_RESPONSE, "x-hello") == "weir");
    }
}

TEST_CASE("the greet sample hands its rule's text to the upstream and marks the response") {
    const LoadedPlugin greet("greet-plugin", WEIR_TEST_SAMPLES);
    struct Row { const char* handle; const char* text; };
    for (const Row& row : {Row{"", "hello"}, Row{R"({"text":"good day, a text longer than any small one"})",
                                                 "good day, a text longer than any small one"}}) {
        const weir::test::LoadedHandle handle(greet, WEIR_SCOPE_RULE, row.handle);
        REQUIRE(handle.ok());
        FakeExchange exchange("/");
        CHECK(walk(greet, exchange, handle.get(), WEIR_NEXT_OK) == WEIR_DONE);
        CHECK(exchange.field(WEIR_REQUEST, "x-greet") == row.text);
        CHECK(exchange.field(WEIR_RESPONSE, "x-greeted") == "yes");
    }
}
