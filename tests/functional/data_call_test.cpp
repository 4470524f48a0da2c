// Data that changes by calls to the management port, with ShenYu's paths and JSON.
#include <thread>

#include "functional/ext_folder.hpp"
#include "functional/local_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/request_load.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;

namespace {

constexpr const char* kRequest = "GET /http/a HTTP/1.1\r\nHost: weir.test\r\n\r\n";

std::string pathCondition(const std::string& pattern) {
    return R"([{"paramType":"uri","operator":"pathPattern","paramName":"/","paramValue":)" + quoted(pattern) + "}]";
}

// The entries of proxyTo()'s file, as a call sends them.
std::string selector(const std::string& handle, const std::string& pattern = "/http/**") {
    return R"({"id":"divide/orders","pluginName":"divide","name":"orders","matchMode":0,"type":1,"sort":1,)"
           R"("enabled":true,"continued":true,"handle":)" +
           quoted(handle) + R"(,"conditionList":)" + pathCondition(pattern) + "}";
}
std::string rule(const std::string& handle, const std::string& pattern = "/http/**") {
    return R"({"id":"divide/orders/all","pluginName":"divide","selectorId":"divide/orders","name":"all",)"
           R"("matchMode":0,"sort":1,"enabled":true,"handle":)" +
           quoted(handle) + R"(,"conditionDataList":)" + pathCondition(pattern) + "}";
}
constexpr const char* kRuleHandle = R"({"loadBalance":"roundRobin","retry":0,"timeout":5000})";

constexpr const char* kDeleteRule =
    "/shenyu/plugin/rule/delete?pluginName=divide&selectorId=divide/orders&id=divide/orders/all";

std::string plugin(const std::string& name, bool enabled, int sort) {
    return R"({"id":")" + name + R"(","name":")" + name + R"(","enabled":)" + (enabled ? "true" : "false") +
           R"(,"sort":)" + std::to_string(sort) + "}";
}

void changeUpstreams(int times) {
    const RecordingUpstream first(named("first"));
    const RecordingUpstream second(named("second"));
    GatewayProcess gateway(withLocalKey(proxyTo(first.address())));
    RequestLoad load(gateway.port(), kRequest);
    LocalCaller caller(gateway);
    RawClient client(gateway.port());
    for (int i = 0; i < times; ++i) {
        const RecordingUpstream& next = i % 2 == 0 ? second : first;
        const HttpMessage answer =
            caller.post("/shenyu/plugin/selector/saveOrUpdate", selector(upstreams(next.address())));
        REQUIRE(answer.status() == 200);
        REQUIRE(client.exchange(kRequest).body == (i % 2 == 0 ? "second" : "first"));
    }
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
    CHECK(load.answers() > 0);
    CHECK(gateway.stop() == 0);
}

}  // namespace

TEST_CASE("a selector's upstream changed by call under load serves the very next request, and none fails") {
#ifdef WEIR_SANITIZED
    changeUpstreams(50);
#else
    changeUpstreams(200);
#endif
}

TEST_CASE("a thousand changes of an upstream at full load", "[.big]") { changeUpstreams(1000); }

TEST_CASE("a rule changed, disabled or deleted by call is so for the very next request") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(withLocalKey(proxyTo(upstream.address())));
    LocalCaller caller(gateway);
    CHECK(get(gateway.port(), "/http/a").status() == 200);

    CHECK(caller.post("/shenyu/plugin/rule/saveOrUpdate", rule(kRuleHandle, "/http/b")).status() == 200);
    CHECK(errorCode(get(gateway.port(), "/http/a")) == "-102");
    CHECK(get(gateway.port(), "/http/b").status() == 200);

    CHECK(caller.post("/shenyu/plugin/rule/saveOrUpdate", rule(kRuleHandle)).status() == 200);
    CHECK(get(gateway.port(), "/http/a").status() == 200);

    std::string disabled = rule(kRuleHandle);
    disabled.replace(disabled.find("\"enabled\":true"), 14, "\"enabled\":false");
    CHECK(caller.post("/shenyu/plugin/rule/saveOrUpdate", disabled).status() == 200);
    CHECK(errorCode(get(gateway.port(), "/http/a")) == "-102");

    CHECK(caller.post("/shenyu/plugin/rule/saveOrUpdate", rule(kRuleHandle)).status() == 200);
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(caller.get(kDeleteRule).status() == 200);
    CHECK(errorCode(get(gateway.port(), "/http/a")) == "-102");
}

TEST_CASE("a selector deleted by call is gone for the next request and from the list, and can come back") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(withLocalKey(proxyTo(upstream.address())));
    LocalCaller caller(gateway);
    const std::string list = "/shenyu/plugin/selector/findList?pluginName=divide";
    CHECK_THAT(caller.get(list).body, Catch::StartsWith("[") && Catch::Contains("divide/orders") &&
                                          Catch::Contains(upstream.address()));
    CHECK_THAT(caller.get("/shenyu/plugin/rule/findList?selectorId=divide/orders").body,
               Catch::Contains("divide/orders/all") && Catch::Contains("roundRobin"));

    CHECK(caller.get("/shenyu/plugin/selector/delete?pluginName=divide&id=divide/orders").status() == 200);
    CHECK(errorCode(get(gateway.port(), "/http/a")) == "-107");
    CHECK_THAT(caller.get(list).body, !Catch::Contains("divide/orders"));

    const std::string again = selector(upstreams(upstream.address()));
    CHECK(caller.post("/shenyu/plugin/selector/saveOrUpdate", again).status() == 200);
    CHECK(caller.post("/shenyu/plugin/rule/saveOrUpdate", rule(kRuleHandle)).status() == 200);
    CHECK(get(gateway.port(), "/http/a").status() == 200);
}

TEST_CASE("a selector with its rules comes by one call") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(withLocalKey(proxyTo("127.0.0.1:" + std::to_string(unusedPort()))));
    LocalCaller caller(gateway);
    const std::string body = R"({"pluginName":"divide","matchMode":0,"sort":1,"selectorHandler":)" +
                             quoted(upstreams(upstream.address())) + R"(,"conditionDataList":)" +
                             pathCondition("/more/**") + R"(,"ruleDataList":[{"ruleName":"all","matchMode":0,)" +
                             R"("ruleHandler":)" + quoted(kRuleHandle) + R"(,"conditionDataList":)" +
                             pathCondition("/more/**") + "}]}";
    CHECK(errorCode(get(gateway.port(), "/more/a")) == "-107");
    const HttpMessage answer = caller.post("/shenyu/plugin/selectorAndRules", body);
    CHECK(answer.status() == 200);
    CHECK_THAT(answer.body, Catch::Contains("success"));
    CHECK(get(gateway.port(), "/more/a").status() == 200);
    CHECK(lastRequest(upstream).startLine == "GET /more/a HTTP/1.1");
}

TEST_CASE("a wrong or missing key is 403 and changes nothing") {
    const RecordingUpstream first(named("first"));
    const RecordingUpstream second(named("second"));
    GatewayProcess gateway(withLocalKey(proxyTo(first.address())));
    for (const std::string key : {"", "open", "Open Sesame"}) {
        INFO("key \"" << key << '"');
        LocalCaller stranger(gateway, key);
        const std::string change = selector(upstreams(second.address()));
        const HttpMessage answers[] = {stranger.post("/shenyu/plugin/selector/saveOrUpdate", change),
                                       stranger.get("/shenyu/plugin/selector/findList?pluginName=divide"),
                                       stranger.get("/shenyu/plugin/deleteAll"), stranger.get("/shenyu/cleanAll")};
        for (const HttpMessage& answer : answers) {
            CHECK(answer.status() == 403);
            CHECK(errorCode(answer) == "403");
            CHECK_THAT(answer.body, !Catch::Contains(first.address()));
        }
        CHECK(get(gateway.port(), "/http/a").body == "first");
    }
}

TEST_CASE("without a configured key nobody changes data") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()));
    for (const std::string key : {"", "123456"}) {
        const HttpMessage answer = LocalCaller(gateway, key).get("/shenyu/cleanAll");
        CHECK(answer.status() == 403);
        CHECK_THAT(answer.body, Catch::Contains("sha512Key"));
    }
    CHECK(get(gateway.port(), "/http/a").status() == 200);
}

TEST_CASE("data that is refused answers 400 with the reason, and the old state serves on") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(withLocalKey(proxyTo(upstream.address())));
    const std::string selectors = "/shenyu/plugin/selector/saveOrUpdate";
    const std::string rules = "/shenyu/plugin/rule/saveOrUpdate";
    struct Row {
        std::string path;
        std::string body;
        std::string reason;
    };
    const Row rows[] = {
        {selectors, selector(R"([{"weight":50}])"), "upstreamUrl"},
        {selectors, selector(R"([{"upstreamUrl":"127.0.0.1:1","weight":-1}])"), "weight"},
        {selectors, selector(R"([{"upstreamUrl")"), ""},
        {selectors, selector(upstreams(upstream.address()), "/http/{"), ""},
        {selectors, "{\"id\":", ""},
        {rules, rule(R"({"retry":1000})"), "retry"},
        {rules, rule(R"({"loadBalance":"roundRobin","timeout":"soon"})"), "timeout"},
    };
    LocalCaller caller(gateway);
    for (const Row& row : rows) {
        INFO(row.path << ' ' << row.body);
        const HttpMessage answer = caller.post(row.path, row.body);
        CHECK(answer.status() == 400);
        CHECK_THAT(answer.body, Catch::Contains(row.reason));
        CHECK(get(gateway.port(), "/http/a").status() == 200);
    }
}

TEST_CASE("a plugin that is disabled by call and enabled again matches at once with the data it had") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("greet", "greet"), "greet.so");
    const std::string yaml = proxyTo(upstream.address()) + R"(  - name: greet
    selectors:
      - name: all
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
            handle: {text: moin}
)";
    GatewayProcess gateway(withLocalKey(yaml), folder.arguments());
    LocalCaller caller(gateway);
    RawClient client(gateway.port());
    const auto data = [&] {
        return caller.get("/shenyu/plugin/selector/findList?pluginName=greet").body +
               caller.get("/shenyu/plugin/rule/findList?selectorId=greet/all").body;
    };
    const std::string before = data();
    CHECK_THAT(before, Catch::Contains("greet/all") && Catch::Contains("moin"));
    std::size_t descriptors = 0;
    for (int round = 0; round < 20; ++round) {
        INFO("round " << round);
        CHECK(caller.post("/shenyu/plugin/saveOrUpdate", plugin("greet", false, 150)).status() == 200);
        CHECK(client.exchange(kRequest).count("X-Greet") == 0);
        CHECK(caller.post("/shenyu/plugin/saveOrUpdate", plugin("greet", true, 150)).status() == 200);
        const HttpMessage answer = client.exchange(kRequest);
        CHECK(answer.field("X-Greet") == "moin");
        CHECK(answer.count("X-Greet") == 1);
        if (round == 0) descriptors = gateway.descriptors();
    }
    CHECK(data() == before);
    CHECK(eventually([&] { return gateway.descriptors() <= descriptors + kThreadsOwn; }));
    CHECK(gateway.mappedFiles("/greet-").size() == 1);
}

TEST_CASE("plugins swapped under slow requests run once each in the old or the new order, which survives a restart") {
    const RecordingUpstream upstream([](RecordingUpstream::Connection& connection) {
        while (connection.next()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            connection.send(RecordingUpstream::ok("slow"));
        }
    });
    const ExtFolder folder;
    folder.copy(built("order-a", "order-a"), "order-a.so");
    folder.copy(built("order-b", "order-b"), "order-b.so");
    const TempDirectory directory;
    const std::string snapshot = (directory.path() / "data.snapshot").string();
    const std::string yaml = withLocalKey(proxyTo(upstream.address()), "  data: {snapshot: \"" + snapshot + "\"}\n");
    GatewayProcess gateway(yaml, folder.arguments());
    LocalCaller caller(gateway);
    CHECK(caller.post("/shenyu/plugin/saveOrUpdate", plugin("b", true, 20)).status() == 200);
    RequestLoad load(gateway.port(), kRequest, 8);
    for (int i = 0; i < 16; ++i) {
        const bool aFirst = i % 2 == 0;
        REQUIRE(caller.post("/shenyu/plugin/saveOrUpdate", plugin("a", true, aFirst ? 10 : 30)).status() == 200);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the pace of the case, not a wait
    }
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
    std::size_t aFirst = 0;
    std::size_t bFirst = 0;
    for (const HttpMessage& request : upstream.requests()) {
        const std::string order = request.field("X-Order").value_or("none");
        if (order == "a,b") ++aFirst;
        else if (order == "b,a") ++bFirst;
        else FAIL_CHECK(order);
    }
    CHECK(aFirst > 0);
    CHECK(bFirst > 0);
    get(gateway.port(), "/http/last");
    CHECK(lastRequest(upstream).field("X-Order") == "b,a");

    CHECK(gateway.stop() == 0);
    const GatewayProcess restarted(yaml, folder.arguments());
    get(restarted.port(), "/http/restarted");
    CHECK(lastRequest(upstream).field("X-Order") == "b,a");  // without the snapshot it is a,b
}

TEST_CASE("what calls changed is there after a restart, and a damaged snapshot is set aside with a message") {
    const RecordingUpstream first(named("first"));
    const RecordingUpstream second(named("second"));
    const TempDirectory directory;
    const fs::path snapshot = directory.path() / "data.snapshot";
    const std::string yaml =
        withLocalKey(proxyTo(first.address()), "  data: {snapshot: \"" + snapshot.string() + "\"}\n");
    {
        GatewayProcess gateway(yaml);
        LocalCaller caller(gateway);
        CHECK(caller.post("/shenyu/plugin/selector/saveOrUpdate", selector(upstreams(second.address()))).status() ==
              200);
        CHECK(gateway.stop() == 0);
    }
    REQUIRE(fs::exists(snapshot));
    {
        GatewayProcess gateway(yaml);
        CHECK(get(gateway.port(), "/http/a").body == "second");
        CHECK(gateway.stop() == 0);
    }
    fs::resize_file(snapshot, fs::file_size(snapshot) - 1);
    GatewayProcess gateway(yaml);
    CHECK(get(gateway.port(), "/http/a").body == "first");
    CHECK_THAT(gateway.process().output(), Catch::Contains("data.snapshot"));
}

TEST_CASE("a module with only a data handler hears the data in force, then each change, then nothing") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(withLocalKey(proxyTo(upstream.address())), folder.arguments());
    LocalCaller caller(gateway);
    const LogWatch log(gateway);
    folder.copy(fs::path(WEIR_TEST_FIXTURES) / "data-listener.so", "data-listener.so");
    log.waitFor({"data-listener: upserted selector divide/orders orders"});
    log.waitFor({"data-listener: upserted rule divide/orders/all all"});
    CHECK(log.count("data-listener: upserted selector") == 1);

    const std::string change = selector(upstreams("127.0.0.1:1"));
    CHECK(caller.post("/shenyu/plugin/selector/saveOrUpdate", change).status() == 200);
    CHECK(eventually([&] { return log.count("data-listener: upserted selector divide/orders orders") == 2; }));
    CHECK(caller.get(kDeleteRule).status() == 200);
    log.waitFor({"data-listener: removed rule divide/orders/all"});

    folder.remove("data-listener.so");
    log.waitFor({"data-listener: destroyed"});
    const std::size_t heard = log.count("data-listener: ");
    CHECK(caller.get("/shenyu/plugin/selector/delete?pluginName=divide&id=divide/orders").status() == 200);
    CHECK(errorCode(get(gateway.port(), "/http/a")) == "-107");
    CHECK(log.count("data-listener: ") == heard);
    CHECK(eventually([&] { return gateway.mappedFiles("/data-listener-").empty(); }));
}
