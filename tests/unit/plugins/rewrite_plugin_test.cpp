#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"
#include "unit/plugins/pattern_host.hpp"

using weir::test::FakeExchange;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;
using weir::test::patternHost;

namespace {

struct Rewrite : LoadedPlugin {
    Rewrite() : LoadedPlugin("rewrite", WEIR_TEST_PLUGINS, patternHost()) {}
};

}  // namespace

TEST_CASE("rewrite makes the upstream's path of regex and replace") {
    struct Row { const char* handle; const char* path; const char* made; };
    const Row rows[] = {
        // B03
        {R"j({"regex":"/a/{id}","replace":"/b/{id}"})j", "/a/123", "/b/123"},
        {R"j({"regex":"/a/(.*)","replace":"/b/$1"})j", "/a/x$y", "/b/x$y"},

        {R"j({"regex":"/a/{id}","replace":"/b/{id}"})j", "/a/1/2", "/b/1/2"},
        {R"j({"regex":"/a/{id}/c","replace":"/b/{id}/c"})j", "/a/1/c", "/b/1/c"},
        {R"j({"regex":"/a/{id}/c","replace":"/b/{id}/c"})j", "/a/1/2/c", "(unset)"},
        {R"j({"regex":"/a/{id}/{name}","replace":"/b/{name}/{id}"})j", "/a/1/x", "/b/x/1"},
        {R"j({"regex":"/(a|b)/{id}","replace":"/{id}/$1"})j", "/b/7", "/7/b"},
        {R"j({"regex":"/a/{id}","replace":"/fixed"})j", "/a/1", "/fixed"},
        {R"j({"regex":"/a/{id}","replace":"/b/{id}"})j", "/x/a/123", "(unset)"},

        {R"j({"regex":"/o+/","replace":"/"})j", "/oo/x/o/y", "/x/y"},
        {R"j({"regex":"^/a","replace":"/b"})j", "/a/a", "/b/a"},
        {R"j({"regex":"/(.)(.)","replace":"/$2$1"})j", "/ab", "/ba"},
        {R"j({"regex":"/(a)","replace":"/$10"})j", "/a", "/a0"},
        {R"j({"regex":"/(a)|/b","replace":"/[$1]"})j", "/b", "/[]"},
        {R"j({"regex":"/a","replace":"/\\$1\\\\"})j", "/a", "/$1\\"},
        {R"j({"regex":"x*","replace":"-"})j", "/a", "/-/-a-"},
        {R"j({"regex":"$","replace":"/z"})j", "/a", "/a/z"},
        {R"j({"regex":"\\b","replace":"-"})j", "/a", "/-a-"},
        {R"j({"regex":"\\B","replace":"-"})j", "/a/", "/-/a/-"},
        {R"j({"regex":"(?m)^","replace":"-"})j", "/a\n", "/-/a\n-"},
        {R"j({"regex":"(?:$|a)()","replace":"-$1"})j", "/a", "/--"},
        {R"j({"regex":"/.*","replace":"/$0$0$0$0"})j", "/long/enough/to/grow/beyond/what/was/reserved",
         "/" "/long/enough/to/grow/beyond/what/was/reserved" "/long/enough/to/grow/beyond/what/was/reserved"
         "/long/enough/to/grow/beyond/what/was/reserved" "/long/enough/to/grow/beyond/what/was/reserved"},
        {R"j({"regex":"/a{2}","replace":"/b"})j", "/aa", "/b"},
        {R"j({"regex":"/[{id}]","replace":"/b"})j", "/d", "/b"},
        {R"j({"regex":"^/a/","replace":"b"})j", "/a/x", "/bx"},

        {R"j({"regex":"/a","replace":"/b"})j", "/other", "(unset)"},
        {R"j({"regex":" ","replace":"/b"})j", "/ ", "(unset)"},
        {R"j({"regex":"/a"})j", "/a", "(unset)"},
        {R"j({})j", "/a", "(unset)"},
        {"", "/a", "(unset)"},
    };
    const Rewrite plugin;
    for (const Row& row : rows) {
        INFO(row.handle << " on " << row.path);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        INFO(handle.error().whole());
        REQUIRE(handle.ok());
        FakeExchange exchange(row.path);
        CHECK(enter(plugin, exchange, handle.get()) == WEIR_FORWARD);
        CHECK(exchange.slot(WEIR_SLOT_REWRITE_URI) == row.made);
        CHECK_FALSE(exchange.query);
    }
}

TEST_CASE("rewrite refuses what could not work when a request comes") {
    struct Row { const char* handle; const char* message; };
    const Row rows[] = {
        {R"j({"regex":"/a/.*","replace":"/b/{id}"})j", "replace: '/b/{id}' refers to {id}, which regex does not have"},
        {R"j({"regex":"/a/(","replace":"/b"})j",
         "regex: position 1: not a regular expression of the RE2 syntax: missing ): /a/("},
        {R"j({"regex":"/a/(?=b)","replace":"/b"})j",
         "regex: position 4: not a regular expression of the RE2 syntax: invalid perl operator: (?="},
        {R"j({"regex":"/a","replace":"/$1"})j", "replace: '/$1' refers to group 1, but regex has no groups"},
        {R"j({"regex":"/(a)","replace":"/$2"})j", "replace: '/$2' refers to group 2, but regex has 1"},
        {R"j({"regex":"/a","replace":"/$"})j",
         "replace: '/$' has a '$' without a group's number behind it (write \\$)"},
        {R"j({"regex":"/a","replace":"/\\"})j", "replace: '/\\' ends with a single \\"},
        {R"j({"regex":"/a","replace":"/{"})j", "replace: '/{' has a '{' that begins no {name} (write \\{)"},
        {R"j({"percentage":-1})j", "percentage: expected a whole number from 0 to 100, found '-1'"},
    };
    const Rewrite plugin;
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
}

TEST_CASE("a query that a rewrite makes goes in front of the client's") {
    struct Row { const char* query; const char* made; };
    const Row rows[] = {{nullptr, "id=7"}, {"", "id=7"}, {"x=%41&y", "id=7&x=%41&y"}};
    const Rewrite plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, R"j({"regex":"/a/(.*)","replace":"/b?id=$1"})j");
    REQUIRE(handle.ok());
    for (const Row& row : rows) {
        FakeExchange exchange("/a/7");
        if (row.query) exchange.query = row.query;
        enter(plugin, exchange, handle.get());
        CHECK(exchange.slot(WEIR_SLOT_REWRITE_URI) == "/b");
        CHECK(exchange.query == row.made);
    }
}

TEST_CASE("rewrite takes the rewritten context path and what is behind it, where there is one") {
    const Rewrite plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, R"j({"regex":"^/new/(.*)","replace":"/v2/$1"})j");
    FakeExchange exchange("/old/x");
    exchange.slots[WEIR_SLOT_REWRITE_CONTEXT_PATH] = "/new";
    exchange.slots[WEIR_SLOT_REAL_URL] = "/x";
    enter(plugin, exchange, handle.get());
    CHECK(exchange.slot(WEIR_SLOT_REWRITE_URI) == "/v2/x");
}

TEST_CASE("rewriteMetaData makes the request one of the new path's RPC type") {
    struct Row { const char* metadataPath; const char* type; };
    const Row rows[] = {{"/context/b", "grpc"}, {"/elsewhere", "http"}};
    const Rewrite plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, R"j({"regex":"/a","replace":"/b","rewriteMetaData":true})j");
    for (const Row& row : rows) {
        FakeExchange exchange("/a");
        exchange.slots[WEIR_SLOT_CONTEXT_PATH] = "/context";
        exchange.slots[WEIR_SLOT_RPC_TYPE] = "dubbo";
        exchange.metadataPath = row.metadataPath;
        enter(plugin, exchange, handle.get());
        CHECK(exchange.slot(WEIR_SLOT_RPC_TYPE) == row.type);
    }
}

TEST_CASE("rewrite happens for the given percentage of requests") {
    struct Row { int percentage; int least; int most; };
    const Row rows[] = {{0, 0, 0}, {30, 2700, 3300}, {100, 10000, 10000}};  // 3 in 10 of 10,000: 300 is over 6 sigma
    const Rewrite plugin;
    for (const Row& row : rows) {
        INFO(row.percentage);
        const LoadedHandle handle(
            plugin, WEIR_SCOPE_RULE,
            R"({"regex":"/a","replace":"/b","percentage":)" + std::to_string(row.percentage) + "}");
        int made = 0;
        for (int i = 0; i < 10000; ++i) {
            FakeExchange exchange("/a");
            enter(plugin, exchange, handle.get());
            made += exchange.slot(WEIR_SLOT_REWRITE_URI) == "/b";
        }
        CHECK(made >= row.least);
        CHECK(made <= row.most);
    }
}
