#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;
using weir::test::FakeSet;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;

TEST_CASE("a selector without a usable address is refused with the field named") {
    struct Row { const char* handle; const char* message; };
    const Row rows[] = {
        // H10
        {R"([{"upstreamUrl":""}])", "[0].upstreamUrl: expected host:port, but '' is empty"},
        {R"([{"upstreamUrl":":8080"}])", "[0].upstreamUrl: expected host:port, but ':8080' has no host"},
        {R"([{"upstreamUrl":"host"}])", "[0].upstreamUrl: expected host:port, but 'host' has no port"},
        {R"([{"protocol":"http://","upstreamUrl":"http://h:1"}])",
         "[0].upstreamUrl: expected host:port, but 'http://h:1' has a scheme, which belongs in protocol"},
        {R"([{"upstreamUrl":"h:0"}])",
         "[0].upstreamUrl: expected host:port, but 'h:0' has a port that is not from 1 to 65535"},
        {R"([{"upstreamUrl":"h:80/path"}])", "[0].upstreamUrl: expected host:port, but 'h:80/path' has a path"},
        {R"([{"upstreamUrl":"h:80","weight":-1}])",
         "[0].weight: expected a whole number from 0 to 2147483647, found '-1'"},

        {R"([{"upstreamUrl":"a:1"},{"upstreamUrl":" "}])", "[1].upstreamUrl: expected host:port, but '' is empty"},
        {R"([{"weight":50}])", "[0].upstreamUrl: is required"},
        {R"([{"upstreamUrl":"h:"}])", "[0].upstreamUrl: expected host:port, but 'h:' has no port"},
        {R"([{"upstreamUrl":"h:65536"}])",
         "[0].upstreamUrl: expected host:port, but 'h:65536' has a port that is not from 1 to 65535"},
        {R"([{"upstreamUrl":"h:+80"}])",
         "[0].upstreamUrl: expected host:port, but 'h:+80' has a port that is not from 1 to 65535"},
        {R"([{"upstreamUrl":"h:80x"}])",
         "[0].upstreamUrl: expected host:port, but 'h:80x' has a port that is not from 1 to 65535"},
        {R"([{"upstreamUrl":"::1:80"}])", "[0].upstreamUrl: expected host:port, but '::1:80' has no host"},
        {R"([{"upstreamUrl":"fe80::1:80"}])",
         "[0].upstreamUrl: expected host:port, but 'fe80::1:80' has more than one ':' "
         "(an IPv6 address goes in brackets)"},
        {R"([{"upstreamUrl":"[::1]"}])", "[0].upstreamUrl: expected host:port, but '[::1]' has no port"},
        {R"([{"upstreamUrl":"[::1]80"}])", "[0].upstreamUrl: expected host:port, but '[::1]80' has no port"},
        {R"([{"upstreamUrl":"[]:80"}])",
         "[0].upstreamUrl: expected host:port, but '[]:80' has no IPv6 address in its brackets"},
        {R"([{"upstreamUrl":"[::1"}])",
         "[0].upstreamUrl: expected host:port, but '[::1' has no IPv6 address in its brackets"},
        {R"([{"upstreamUrl":"u@h:80"}])",
         "[0].upstreamUrl: expected host:port without a user and password"},
        {R"([{"upstreamUrl":"ws://u:secret@h"}])", "[0].upstreamUrl: expected host:port without a user and password"},
        {R"([{"upstreamUrl":"h\r\nx:80"}])",
         "[0].upstreamUrl: expected host:port, but 'h\r\nx:80' has characters that no host name has"},
        {R"([{"upstreamUrl":"h:80","protocol":"https://"}])",
         "[0].protocol: only http:// is supported so far, found 'https://'"},
        {R"({"upstreamUrl":"h:80"})", "expected a list, found a map"},
    };
    const LoadedPlugin divide("divide");
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(divide, WEIR_SCOPE_SELECTOR, row.handle);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
    CHECK(FakeSet::alive == 0);
}

TEST_CASE("a selector's upstreams reach the host as ShenYu means them") {
    const LoadedPlugin divide("divide");
    {
        const LoadedHandle selector(divide, WEIR_SCOPE_SELECTOR,
                                    R"([{"upstreamUrl":" h:80 ","weight":"20","protocol":""},
                                        {"upstreamUrl":"[::1]:80","status":false,"gray":true,"timestamp":1,"warmup":2,
                                         "upstreamHost":"x","healthCheckEnabled":true,"namespaceId":"n"},
                                        {"upstreamUrl":"i:80","status":false,"healthCheckEnabled":false}])");
        const LoadedHandle rule(divide, WEIR_SCOPE_RULE, "");
        REQUIRE(selector.ok());
        REQUIRE(rule.ok());
        CHECK(selector.error().unknownKeys.empty());
        FakeExchange exchange("/");
        REQUIRE(enter(divide, exchange, rule.get(), selector.get()) == WEIR_FORWARD);
        const auto& list = FakeSet::of(exchange.route->set).upstreams;
        REQUIRE(list.size() == 3);
        CHECK(list[0].url == "h:80");
        CHECK(list[0].checked);
        CHECK(list[0].protocol == "http://");
        CHECK(list[0].weight == 20);
        CHECK(list[0].status);
        CHECK(list[1].url == "[::1]:80");
        CHECK(list[1].weight == 50);
        CHECK_FALSE(list[1].status);
        CHECK(list[1].gray);
        CHECK(list[1].timestampMs == 1);
        CHECK(list[1].warmupMs == 2);
        CHECK(list[1].checked);
        CHECK(list[2].status);  // forced on, as in ShenYu
        CHECK_FALSE(list[2].checked);
    }
    CHECK(FakeSet::alive == 0);
}

TEST_CASE("the route carries the rule's settings, and the code defaults without them") {
    struct Row { const char* handle; unsigned balancer; unsigned timeout; unsigned retry; int strategy; };
    const Row rows[] = {
        {"", 1, 3000, 3, WEIR_RETRY_CURRENT},
        {"{}", 1, 3000, 3, WEIR_RETRY_CURRENT},
        {R"({"loadBalance":"roundRobin","retryStrategy":"failover","retry":0,"timeout":250})", 2, 250, 0,
         WEIR_RETRY_FAILOVER},
    };
    const LoadedPlugin divide("divide");
    const LoadedHandle selector(divide, WEIR_SCOPE_SELECTOR, R"([{"upstreamUrl":"h:80"},{"upstreamUrl":"i:80"}])");
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle rule(divide, WEIR_SCOPE_RULE, row.handle);
        REQUIRE(rule.ok());
        FakeExchange exchange("/");
        exchange.picks = 1;
        CHECK(enter(divide, exchange, rule.get(), selector.get()) == WEIR_FORWARD);
        REQUIRE(exchange.route);
        CHECK(exchange.route->size == sizeof(weir_route));
        CHECK(exchange.route->index == 1);
        CHECK(exchange.route->balancer == row.balancer);
        CHECK(exchange.route->timeout_ms == row.timeout);
        CHECK(exchange.route->retry == row.retry);
        CHECK(exchange.route->retry_strategy == row.strategy);
    }
}

TEST_CASE("while a gray upstream can be used, only gray ones are") {
    struct Row {
        const char* name;
        const char* handle;
        int failPicks;
        std::vector<std::string> from;  // the set that is routed to
    };
    const Row rows[] = {
        {"some are gray",
         R"([{"upstreamUrl":"a:1"},{"upstreamUrl":"b:1","gray":true},{"upstreamUrl":"c:1","gray":true}])", 0,
         {"b:1", "c:1"}},
        {"none of the gray ones is left", R"([{"upstreamUrl":"a:1"},{"upstreamUrl":"b:1","gray":true}])", 1,
         {"a:1", "b:1"}},
        {"all are gray", R"([{"upstreamUrl":"a:1","gray":true},{"upstreamUrl":"b:1","gray":true}])", 0, {"a:1", "b:1"}},
        {"the gray one is off", R"([{"upstreamUrl":"a:1"},{"upstreamUrl":"b:1","gray":true,"status":false}])", 0,
         {"a:1", "b:1"}},
        {"the gray one weighs nothing", R"([{"upstreamUrl":"a:1"},{"upstreamUrl":"b:1","gray":true,"weight":0}])", 0,
         {"a:1", "b:1"}},
    };
    const LoadedPlugin divide("divide");
    const LoadedHandle rule(divide, WEIR_SCOPE_RULE, "");
    for (const Row& row : rows) {
        INFO(row.name);
        const LoadedHandle selector(divide, WEIR_SCOPE_SELECTOR, row.handle);
        REQUIRE(selector.ok());
        FakeExchange exchange("/");
        exchange.failPicks = row.failPicks;
        REQUIRE(enter(divide, exchange, rule.get(), selector.get()) == WEIR_FORWARD);
        std::vector<std::string> from;
        for (const auto& upstream : FakeSet::of(exchange.route->set).upstreams) from.push_back(upstream.url);
        CHECK(from == row.from);
    }
}

TEST_CASE("specify-domain leaves the pick one upstream of the list, and nothing changes when it can not be used") {
    struct Row {
        const char* domain;
        int failPicks;
        std::vector<std::vector<std::uint64_t>> excluded;  // of each pick
    };
    constexpr std::uint64_t kAllBut1 = ~std::uint64_t{2};
    const Row rows[] = {
        {"c:1", 0, {{kAllBut1}}},             // index 1: b is off
        {"c:1", 1, {{kAllBut1}, {}}},         // it is not healthy
        {"b:1", 0, {{}}},                     // listed, and off
        {"evil:1", 0, {{}}},                  // not listed
        {"", 0, {{}}},
    };
    const LoadedPlugin divide("divide");
    const LoadedHandle rule(divide, WEIR_SCOPE_RULE, "");
    const LoadedHandle selector(
        divide, WEIR_SCOPE_SELECTOR,
        R"([{"upstreamUrl":"a:1"},{"upstreamUrl":"b:1","status":false},{"upstreamUrl":"c:1"}])");
    REQUIRE(selector.ok());
    for (const Row& row : rows) {
        INFO(row.domain);
        FakeExchange exchange("/", {{"specify-domain", row.domain}});
        exchange.failPicks = row.failPicks;
        REQUIRE(enter(divide, exchange, rule.get(), selector.get()) == WEIR_FORWARD);
        CHECK(exchange.excluded == row.excluded);
    }
}

TEST_CASE("a rule with an impossible setting is refused") {
    struct Row { const char* handle; const char* message; };
    const Row rows[] = {
        {R"({"loadBalance":"rand"})", "loadBalance: no load balancer is called 'rand'"},
        {R"({"retryStrategy":"never"})", "retryStrategy: expected one of current, failover, found 'never'"},
        {R"({"retry":-1})", "retry: expected a whole number from 0 to 100, found '-1'"},
        {R"({"timeout":0})", "timeout: expected a whole number from 1 to 2147483647, found '0'"},
        {R"({"headerMaxSize":-1})", "headerMaxSize: expected a whole number, at least 0, found '-1'"},
    };
    const LoadedPlugin divide("divide");
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(divide, WEIR_SCOPE_RULE, row.handle);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
}

TEST_CASE("divide answers itself when a request is too large or no upstream is left") {
    struct Row { FakeExchange::Fields fields; int pick; int status; int code; const char* message; };
    const Row rows[] = {
        {{{"a", "12345"}, {"b", "67890"}}, 0, 0, 0, ""},
        {{{"a", "12345"}, {"b", "67890x"}}, 0, 431, 431, "Request Header Fields Too Large"},
        {{{"Content-Length", "100"}}, 0, 0, 0, ""},
        {{{"content-length", "101"}}, 0, 413, 413, "Request Entity Too Large"},
        {{{"Transfer-Encoding", "chunked"}}, 0, 0, 0, ""},
        {{}, -1, 503, -119, "Can not find healthy upstream url, please check your configuration!"},
    };
    const LoadedPlugin divide("divide");
    const LoadedHandle selector(divide, WEIR_SCOPE_SELECTOR, R"([{"upstreamUrl":"h:80"}])");
    const LoadedHandle rule(divide, WEIR_SCOPE_RULE, R"({"headerMaxSize":10,"requestMaxSize":100})");
    for (const Row& row : rows) {
        INFO(row.message);
        FakeExchange exchange("/", row.fields);
        exchange.picks = row.pick;
        CHECK(enter(divide, exchange, rule.get(), selector.get()) == (row.status ? WEIR_REPLY : WEIR_FORWARD));
        CHECK(exchange.status == row.status);
        CHECK(exchange.errorCode == row.code);
        CHECK(exchange.body == row.message);
        CHECK(exchange.route.has_value() == (row.status == 0));
    }
}
