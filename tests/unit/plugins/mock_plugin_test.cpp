#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;

namespace {

int enterAndDrop(const LoadedPlugin& plugin, FakeExchange& exchange, void* rule) {
    weir_match match{};
    match.size = sizeof match;
    match.rule = rule;
    weir_outcome outcome{};
    const int answer = plugin.table().enter(plugin.plugin(), &exchange, &match, &outcome);
    if (outcome.frame) plugin.table().drop(plugin.plugin(), &exchange, outcome.frame);
    return answer;
}

}  // namespace

TEST_CASE("mock answers what its handle says, and lets pass when that says nothing") {
    struct Row { const char* handle; int answer; int status; const char* body; };
    const Row rows[] = {
        {"", WEIR_FORWARD, 0, ""},
        {R"j({})j", WEIR_FORWARD, 0, ""},
        {R"j({"httpStatusCode":503})j", WEIR_REPLY, 503, ""},
        {R"j({"responseContent":"{\"a\":${int|1-1}}"})j", WEIR_REPLY, 200, "{\"a\":1}"},
        {R"j({"httpStatusCode":"201","responseContent":"${expression|#req.method + #req.uri}"})j", WEIR_REPLY, 201,
         "\"GEThttp://shop.example/a?b\""},
        {R"j({"responseContent":"${array|${array|x|10000}|10000}"})j", WEIR_FAILED, 500,
         "responseContent makes an answer of more than 1 MiB"},
    };
    const LoadedPlugin plugin("mock");
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        INFO(handle.error().whole());
        REQUIRE(handle.ok());
        FakeExchange exchange("/a", {{"Host", "shop.example"}});
        exchange.query = "b";
        CHECK(enterAndDrop(plugin, exchange, handle.get()) == row.answer);
        CHECK(exchange.status == row.status);
        CHECK(exchange.body == row.body);
        const bool replied = row.answer == WEIR_REPLY;
        CHECK(exchange.field(WEIR_RESPONSE, "Content-Type") == (replied ? "application/json" : "(none)"));
    }
}

TEST_CASE("mock refuses a status that no answer has") {
    const LoadedPlugin plugin("mock");
    for (const char* status : {"100", "199", "1000", "0", "\"x\""}) {
        INFO(status);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, R"({"httpStatusCode":)" + std::string(status) + "}");
        CHECK_FALSE(handle.ok());
        CHECK_THAT(handle.error().whole(),
                   Catch::StartsWith("httpStatusCode: expected a whole number from 200 to 999, found "));
    }
}
