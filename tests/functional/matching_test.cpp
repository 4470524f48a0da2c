// Which selectors and rules a request meets, with data that comes by calls as ShenYu's own tests send it.
#include <algorithm>

#include "functional/local_caller.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

constexpr const char* kNoSelector = "-107";
constexpr const char* kNoRule = "-102";

HttpMessage send(const GatewayProcess& gateway, const std::string& method, const std::string& target,
                 const std::string& fields = "") {
    return RawClient(gateway.port()).exchange(method + " " + target + " HTTP/1.1\r\nHost: weir.test\r\n" + fields +
                                              "\r\n");
}

// As ShenYu's tests from the outside define it.
bool exists(const HttpMessage& answer) {
    return answer.status() == 200 && errorCode(answer).empty() &&
           answer.body.find("please check your configuration!") == std::string::npos;
}
bool notExists(const HttpMessage& answer) {
    return answer.status() == 404 && errorCode(answer) == kNoSelector &&
           answer.body.find("please check your configuration!") != std::string::npos;
}

// An upstream for the data of these calls, whose requests are counted.
struct Scene {
    explicit Scene(const std::string& settings = "") : gateway(onlyDivide(settings)), caller(gateway) {}

    // A selector for everything, and the rule to test with it.
    void base() const {
        caller.selector(Entry{"s", {uri("startsWith", "/")}, upstreams(upstream.address())}.selector());
    }
    bool reached(const std::string& target, const std::string& fields = "") const {
        const HttpMessage answer = send(gateway, "GET", target, fields);
        if (answer.status() != 200 && errorCode(answer) != kNoRule) FAIL_CHECK(target << "\n" << answer.raw);
        return answer.status() == 200;
    }

    RecordingUpstream upstream;
    GatewayProcess gateway;
    LocalCaller caller;
};

std::size_t countOf(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// Waits until the gateway has logged a text so many times; what it writes comes here a little later.
bool logs(const GatewayProcess& gateway, const std::string& part, std::size_t times) {
    return eventually([&] { return countOf(gateway.process().output(), part) == times; });
}

}  // namespace

TEST_CASE("ShenYu's end to end cases: conditions on the path and the method, and their removal") {
    struct Row {
        std::vector<Condition> conditions;
        std::vector<std::string> there;
        std::vector<std::string> notThere;
    };
    const std::vector<std::string> all = {"GET", "POST", "PUT", "DELETE"};
    std::vector<Row> rows = {
        {{uri("=", "/http/order/findById")},
         {"GET /http/order/findById?id=123", "POST /http/order/findById"},
         {"GET /http/order/findById/", "GET /http/order/findByid", "GET /http/order", "GET /put/http/order/findById"}},
        {{uri("pathPattern", "/http/order/**")},
         {"GET /http/order/findById?id=123", "GET /http/order/path/1/name", "DELETE /http/order/", "GET /http/order"},
         {"GET /http/orders", "GET /http", "GET /a/http/order/findById", "POST /put/**"}},
        {{uri("pathPattern", "/http/order/path/{id}/name")},
         {"GET /http/order/path/1/name"},
         {"GET /http/order/path//name", "GET /http/order/path/1/2/name", "GET /http/order/path/1"}},
        {{uri("startsWith", "/http/order")},
         {"GET /http/order/findById", "PUT /http/orders", "GET /http/order?x=/a"},
         {"GET /http/orde", "GET /a/http/order"}},
        {{uri("endsWith", "/findById")},
         {"GET /http/order/findById", "GET /findById?id=1"},
         {"GET /http/order/findById/1", "GET /http/order/findByIds", "GET /http/x?y=/findById"}},
        {{uri("match", "/http/*/findById")},
         {"GET /http/order/findById", "POST /http/shop/findById"},
         {"GET /http/findById", "GET /http/order/shop/findById", "GET /http/order/findById/"}},
        {{uri("match", "/http/**/name")},
         {"GET /http/name", "GET /http/order/path/1/name"},
         {"GET /http/order/path/1", "GET /http/order/names"}},
    };
    for (const std::string& one : all) {
        Row row{{uri("pathPattern", "/anything/**"), method(one)}, {one + " /anything/x"}, {one + " /nothing/x"}};
        for (const std::string& other : all) {
            if (other != one) row.notThere.push_back(other + " /anything/x");
        }
        rows.push_back(std::move(row));
    }
    const Scene scene;
    for (const Row& row : rows) {
        INFO(row.conditions.back().operatorName << ' ' << row.conditions.back().paramValue);
        const auto ask = [&](const std::string& line) {
            const auto blank = line.find(' ');
            const std::string body = line[0] == 'P' ? "Content-Length: 0\r\n" : "";
            return send(scene.gateway, line.substr(0, blank), line.substr(blank + 1), body);
        };
        for (const std::string& line : row.there) CHECK(notExists(ask(line)));
        scene.caller.selector(Entry{"s", row.conditions, upstreams(scene.upstream.address())}.selector());
        scene.caller.rule(Entry{"r", row.conditions, R"({"loadBalance":"hash","timeout":3000})"}.rule("s"));
        for (const std::string& line : row.there) {
            INFO(line);
            CHECK(exists(ask(line)));
            CHECK(scene.upstream.requests().back().startLine == line + " HTTP/1.1");
        }
        for (const std::string& line : row.notThere) {
            INFO(line);
            CHECK(notExists(ask(line)));
        }
        scene.caller.deleteSelector("divide", "s");
        for (const std::string& line : row.there) CHECK(notExists(ask(line)));
    }
}

TEST_CASE("a selector with its rules by one call is there until it is deleted, its plugin disabled or all cleaned") {
    const Scene scene;
    const std::string body = R"({"pluginName":"divide","selectorHandler":)" +
                             quoted(upstreams(scene.upstream.address())) +
                             R"(,"conditionDataList":[{"paramType":"uri","operator":"match",)"
                             R"("paramValue":"/http/**"}],)";
    const std::string rules = R"("matchMode":0,"sort":3,"ruleDataList":[)"
                              R"({"ruleName":"reads","ruleHandler":"{}","matchMode":0,"conditionDataList":)"
                              R"([{"paramType":"req_method","operator":"=","paramValue":"GET"}]},)"
                              R"({"ruleName":"deletes","matchMode":1,"conditionDataList":)"
                              R"([{"paramType":"req_method","operator":"=","paramValue":"DELETE"},)"
                              R"({"paramType":"header","paramName":"X-Delete","operator":"=","paramValue":"1"}]}]})";
    CHECK(scene.caller.post("/shenyu/plugin/selectorAndRules", body + rules).status() == 200);
    CHECK(exists(send(scene.gateway, "GET", "/http/a")));
    CHECK(exists(send(scene.gateway, "DELETE", "/http/a")));
    CHECK(errorCode(send(scene.gateway, "OPTIONS", "/http/a")) == kNoRule);
    CHECK(exists(send(scene.gateway, "OPTIONS", "/http/a", "X-Delete: 1\r\n")));

    const std::string disabled = R"({"id":"5","name":"divide","enabled":false,"sort":200,"role":"Proxy"})";
    CHECK(scene.caller.post("/shenyu/plugin/saveOrUpdate", disabled).status() == 200);
    CHECK(errorCode(send(scene.gateway, "GET", "/http/a")) == "-106");
    const std::string enabled = R"({"id":"5","name":"divide","enabled":true,"sort":200,"role":"Proxy","config":""})";
    CHECK(scene.caller.post("/shenyu/plugin/saveOrUpdate", enabled).status() == 200);
    CHECK(exists(send(scene.gateway, "GET", "/http/a")));

    CHECK(scene.caller.get("/shenyu/cleanPlugin?name=divide").status() == 200);
    CHECK(errorCode(send(scene.gateway, "GET", "/http/a")) == "-106");
    CHECK(scene.caller.post("/shenyu/plugin/saveOrUpdate", enabled).status() == 200);
    CHECK(notExists(send(scene.gateway, "GET", "/http/a")));
    const std::string one = R"("ruleHandler":"{\"retry\":0}"})";
    CHECK(scene.caller.post("/shenyu/plugin/selectorAndRule", body + one).status() == 200);
    CHECK(exists(send(scene.gateway, "OPTIONS", "/http/a")));
}

TEST_CASE("after a hundred requests on a path the first one after each change follows it, on every loop") {
    const Scene scene;
    const Entry selector{"s", {uri("pathPattern", "/s1/**")}, upstreams(scene.upstream.address())};
    const Entry rule{"r", {uri("pathPattern", "/s1/**")}, R"({"retry":0})"};
    scene.caller.selector(selector.selector());
    scene.caller.rule(rule.rule("s"));
    std::vector<RawClient> clients;  // kept open, so that both loops have some
    for (int i = 0; i < 8; ++i) clients.emplace_back(scene.gateway.port());
    const auto allSay = [&](const std::string& path, const std::string& code) {
        INFO(path);
        for (RawClient& client : clients) {
            const HttpMessage answer = client.exchange("GET " + path + " HTTP/1.1\r\nHost: weir.test\r\n\r\n");
            CHECK(errorCode(answer) == code);
            CHECK(answer.status() == (code.empty() ? 200 : 404));
        }
    };
    for (int i = 0; i < 100; ++i) allSay("/s1/a", "");

    Entry changed = rule;
    changed.conditions = {uri("pathPattern", "/s1/b/**")};
    scene.caller.rule(changed.rule("s"));
    allSay("/s1/a", kNoRule);
    allSay("/s1/b/a", "");
    changed = rule;
    scene.caller.rule(changed.rule("s"));
    allSay("/s1/a", "");
    changed.enabled = false;
    scene.caller.rule(changed.rule("s"));
    allSay("/s1/a", kNoRule);
    scene.caller.rule(rule.rule("s"));
    allSay("/s1/a", "");
    Entry off = selector;
    off.enabled = false;
    scene.caller.selector(off.selector());
    allSay("/s1/a", kNoSelector);
    scene.caller.selector(selector.selector());
    allSay("/s1/a", "");
    off = selector;
    off.conditions = {uri("pathPattern", "/s2/**")};
    scene.caller.selector(off.selector());
    allSay("/s1/a", kNoSelector);
}

TEST_CASE("of several selectors the one with most and-conditions wins, then the lowest sort, in any order of arrival") {
    const RecordingUpstream a(named("a"));
    const RecordingUpstream b(named("b"));
    const RecordingUpstream c(named("c"));
    const Condition path = uri("pathPattern", "/s1/**");
    Entry sa{"sa", {path, method("GET")}, upstreams(a.address())};
    sa.matchMode = "1";
    Entry sb{"sb", {path, method("GET")}, upstreams(b.address())};
    sb.sort = 9;
    Entry sc{"sc", {path}, upstreams(c.address())};
    sc.sort = 2;

    const TempDirectory directory;
    const std::string yaml =
        onlyDivide("  data: {snapshot: \"" + (directory.path() / "data.snapshot").string() + "\"}\n");
    const auto winner = [](const GatewayProcess& gateway) { return send(gateway, "GET", "/s1/a").body; };
    std::vector<Entry> entries = {sa, sb, sc};
    const auto disabled = [](Entry entry) {
        entry.enabled = false;
        return entry.selector();
    };
    {
        GatewayProcess gateway(yaml);
        const LocalCaller caller(gateway);
        for (const char* id : {"sa", "sb", "sc"}) caller.rule(Entry{"r-" + std::string(id), {path}}.rule(id));
        const auto byId = [](const Entry& left, const Entry& right) { return left.id < right.id; };
        do {
            INFO(entries[0].id << entries[1].id << entries[2].id);
            for (const Entry& entry : entries) caller.selector(entry.selector());
            CHECK(winner(gateway) == "b");
            caller.selector(disabled(sb));
            CHECK(winner(gateway) == "c");
            caller.selector(disabled(sc));
            CHECK(winner(gateway) == "a");
            for (const Entry& entry : entries) caller.deleteSelector("divide", entry.id);
        } while (std::next_permutation(entries.begin(), entries.end(), byId));

        Entry twin = sc;  // as many conditions, a lower sort
        twin.id = "sd";
        twin.sort = 1;
        twin.handle = upstreams(a.address());
        caller.rule(Entry{"r-sd", {path}}.rule("sd"));
        for (const Entry& entry : {sc, twin}) caller.selector(entry.selector());
        CHECK(winner(gateway) == "a");
        for (const Entry& entry : {sc, twin}) caller.deleteSelector("divide", entry.id);

        for (const Entry& entry : entries) caller.selector(entry.selector());
        CHECK(winner(gateway) == "b");
        CHECK(gateway.stop() == 0);
    }
    {
        GatewayProcess gateway(yaml);
        CHECK(winner(gateway) == "b");
        LocalCaller(gateway).selector(disabled(sb));
        CHECK(gateway.stop() == 0);
    }
    GatewayProcess gateway(yaml);
    CHECK(winner(gateway) == "c");
    LocalCaller(gateway).selector(disabled(sc));
    CHECK(winner(gateway) == "a");
}

TEST_CASE("compat.match: first takes the first match by sort, whatever it has of conditions") {
    const RecordingUpstream a(named("a"));
    const RecordingUpstream b(named("b"));
    const Condition path = uri("pathPattern", "/s1/**");
    Entry wide{"wide", {path}, upstreams(a.address())};
    Entry narrow{"narrow", {path, method("GET")}, upstreams(b.address())};
    narrow.sort = 2;
    // The same with rules: which one, says the path.
    const Entry everything{"c", {path}, "", "contextPath"};
    const Entry wideRule{"rw", {path}, R"({"addPrefix":"/wide"})", "contextPath"};
    Entry narrowRule{"rn", {path, method("GET")}, R"({"addPrefix":"/narrow"})", "contextPath"};
    narrowRule.sort = 2;
    const RecordingUpstream recorder;
    for (const bool first : {false, true}) {
        INFO("first " << first);
        GatewayProcess gateway(onlyDivide(first ? "  compat: {match: first}\n" : ""));
        const LocalCaller caller(gateway);
        caller.selector(narrow.selector());
        caller.selector(wide.selector());
        for (const char* id : {"wide", "narrow"}) caller.rule(Entry{"r-" + std::string(id), {path}}.rule(id));
        CHECK(send(gateway, "GET", "/s1/a").body == (first ? "a" : "b"));

        caller.deleteSelector("divide", "narrow");
        wide.handle = upstreams(recorder.address());
        caller.selector(wide.selector());
        wide.handle = upstreams(a.address());
        caller.selector(everything.selector());
        caller.rule(narrowRule.rule("c"));
        caller.rule(wideRule.rule("c"));
        send(gateway, "GET", "/s1/a");
        CHECK(recorder.requests().back().startLine ==
              (first ? "GET /wide/s1/a HTTP/1.1" : "GET /narrow/s1/a HTTP/1.1"));
    }
}

TEST_CASE("query strings arrive byte for byte, and conditions compare their decoded values") {
    const Scene scene;
    scene.base();
    scene.caller.rule(Entry{"all", {}}.rule("s"));
    struct Row {
        std::string query;  // with its question mark
        std::string name;
        std::string value;  // decoded; "": no condition can meet it
    };
    const Row rows[] = {
        {"?p=a%2Bb%3D", "p", "a+b="},
        {"?o%5B0%5D.asc=true", "o[0].asc", "true"},
        {"?k=%23&page=1", "k", "#"},
        {"?k=%23&page=1", "page", "1"},
        {"?k=%E7%94%B5", "k", "\xe7\x94\xb5"},
        {"?n=%5B%7B%22a%22%3A%20%22b%22%7D%5D", "n", R"([{"a": "b"}])"},
        {"?s=[a%2Cb]", "s", "[a,b]"},
        {"?a=1&a=2&b=&c", "a", "1"},
        {"?a=1&a=2&b=&c", "b", ""},
        {"?a=1&a=2&b=&c", "c", ""},
        {"?x=%zz", "x", "%zz"},
        {"?p=a+b", "p", "a b"},
        {"?u=http://h/?q=1&r", "u", "http://h/?q=1"},
        {"?", "p", ""},
    };
    for (const Row& row : rows) {
        INFO(row.query << ' ' << row.name);
        const HttpMessage answer = send(scene.gateway, "GET", "/s1/q" + row.query);
        CHECK(answer.status() == 200);
        CHECK(scene.upstream.requests().back().startLine == "GET /s1/q" + row.query + " HTTP/1.1");
        Entry rule{"q", {{"query", row.value.empty() ? "isBlank" : "=", row.name, row.value}}};
        scene.caller.rule(rule.rule("only"));
        scene.caller.selector(
            Entry{"only", {uri("startsWith", "/only")}, upstreams(scene.upstream.address())}.selector());
        CHECK(scene.reached("/only" + row.query));
        if (!row.value.empty()) {
            rule.conditions[0].paramValue += "x";
            scene.caller.rule(rule.rule("only"));
            CHECK(!scene.reached("/only" + row.query));
        }
    }
}

TEST_CASE("TimeBefore and TimeAfter without a name compare now, and a date that is none is refused") {
    const Scene scene;
    scene.base();
    struct Row {
        const char* operatorName;
        const char* value;
        bool holds;
    };
    const Row rows[] = {
        {"TimeAfter", "2020-01-01 00:00:00", true},
        {"TimeAfter", "2120-01-01 00:00:00", false},
        {"TimeBefore", "2020-01-01 00:00:00", false},
        {"TimeBefore", "2120-01-01 00:00:00", true},
    };
    for (const Row& row : rows) {
        INFO(row.operatorName << ' ' << row.value);
        for (const char* type : {"uri", "query", "header"}) {
            scene.caller.rule(Entry{"r", {{type, row.operatorName, "", row.value}}}.rule("s"));
            CHECK(scene.reached("/a") == row.holds);
        }
        // With a name it is the request's date.
        scene.caller.rule(Entry{"r", {{"header", row.operatorName, "X-Date", "2024-05-06 07:08:09"}}}.rule("s"));
        const bool after = std::string(row.operatorName) == "TimeAfter";
        CHECK(scene.reached("/a", "X-Date: 2024-05-06 07:08:10\r\n") == after);
        CHECK(scene.reached("/a", "X-Date: 2024-05-06 07:08:08\r\n") == !after);
        CHECK(!scene.reached("/a", "X-Date: yesterday\r\n"));
        CHECK(!scene.reached("/a"));
    }
    scene.caller.rule(Entry{"r", {uri("=", "/good")}}.rule("s"));
    for (const char* value : {"not a date", "", "2020-01-01", "2020-02-30 00:00:00", "2020-01-01T00:00:00"}) {
        for (const char* name : {"TimeAfter", "TimeBefore"}) {
            INFO(name << ' ' << value);
            const HttpMessage answer =
                scene.caller.post(kRuleCall, Entry{"bad", {{"uri", name, "", value}}}.rule("s"));
            CHECK(answer.status() == 400);
            CHECK_THAT(answer.body, Contains("yyyy-MM-dd HH:mm:ss"));
            CHECK(scene.reached("/good"));
            CHECK(!scene.reached("/other"));
        }
    }
    CHECK_THAT(scene.caller.get("/shenyu/plugin/rule/findList?selectorId=s").body, !Contains("\"bad\""));
}

TEST_CASE("an unknown operator, paramType or matchMode waits with one warning, and the rule beside it works on") {
    const Scene scene;
    scene.base();
    scene.caller.rule(Entry{"good", {uri("=", "/good")}}.rule("s"));
    struct Row {
        Condition condition;
        const char* matchMode;
        const char* names;
        const char* nearest;
    };
    const Row rows[] = {
        {uri("pathPatter", "/**"), "0", "operator 'pathPatter' is unknown", "did you mean 'pathPattern'?"},
        {{"moon", "=", "x", "y"}, "0", "paramType 'moon' is unknown", ""},
        {{"heder", "=", "x", "y"}, "0", "paramType 'heder' is unknown", "did you mean 'header'?"},
        {uri("startsWith", "/"), "7", "matchMode '7' is unknown", ""},
        {uri("startsWith", "/"), "\"annd\"", "matchMode 'annd' is unknown", "did you mean 'and'?"},
    };
    for (const Row& row : rows) {
        INFO(row.names);
        Entry bad{"bad", {row.condition}};
        bad.matchMode = row.matchMode;
        bad.sort = -1;
        CHECK(scene.caller.post(kRuleCall, bad.rule("s")).status() == 200);
        CHECK(scene.reached("/good"));
        CHECK(!scene.reached("/bad"));
        const auto page = [&](const char* path) { return get(scene.gateway.managementPort(), path).body; };
        CHECK_THAT(page("/actuator/ruleData"),
                   Contains("\"waiting\":\"") && Contains(row.names) && Contains(row.nearest));
        CHECK(logs(scene.gateway, row.names, 1));
        CHECK_THAT(scene.gateway.process().output(), Contains(row.nearest) && Contains("rule 'bad name'"));
        scene.caller.rule(Entry{"good", {uri("=", "/good")}}.rule("s"));  // does not warn again
        CHECK(scene.caller.get("/shenyu/plugin/rule/delete?pluginName=divide&selectorId=s&id=bad").status() == 200);
        CHECK_THAT(page("/actuator/ruleData"), !Contains("\"waiting\""));

        bad.conditions.push_back(uri("startsWith", "/good"));  // of higher rank, if it counted
        CHECK(scene.caller.post(kSelectorCall, bad.selector()).status() == 200);
        CHECK(scene.reached("/good"));
        CHECK_THAT(page("/actuator/selectorData"), Contains("\"waiting\":\"") && Contains(row.names));
        CHECK(logs(scene.gateway, row.names, 2));
        scene.caller.deleteSelector("divide", "bad");
    }
}

TEST_CASE("what waits in a file warns once at the start, and what is beside it serves") {
    const RecordingUpstream upstream;
    GatewayProcess gateway(R"(weir:
  server: {address: 127.0.0.1, port: 9195, threads: 1}
  extPlugin: {enabled: false}
plugins:
  - name: divide
    selectors:
      - name: moon
        conditions: [{paramType: moon, operator: "=", paramName: x, paramValue: y}]
      - name: seven
        matchMode: 7
        conditions: [{paramType: uri, operator: startsWith, paramValue: /}]
      - name: good
        conditions: [{paramType: uri, operator: startsWith, paramValue: /}]
        handle: [{upstreamUrl: ")" + upstream.address() + R"("}]
        rules:
          - {name: typo, conditions: [{paramType: uri, operator: pathPatter, paramValue: /**}]}
          - {name: good, conditions: [{paramType: uri, operator: "=", paramValue: /good}]}
)");
    CHECK(get(gateway.port(), "/good").status() == 200);
    CHECK(errorCode(get(gateway.port(), "/bad")) == kNoRule);
    for (const char* name : {"paramType 'moon' is unknown", "matchMode '7' is unknown",
                             "operator 'pathPatter' is unknown, did you mean 'pathPattern'?"}) {
        INFO(name);
        CHECK(logs(gateway, name, 1));
    }
    const std::string selectors = get(gateway.managementPort(), "/actuator/selectorData").body;
    CHECK(countOf(selectors, "\"waiting\":\"") == 2);
    CHECK(countOf(get(gateway.managementPort(), "/actuator/ruleData").body, "\"waiting\":\"") == 1);
}

TEST_CASE("a condition without a value is refused; without conditions a rule takes all requests, a selector none") {
    const Scene scene;
    scene.base();
    scene.caller.rule(Entry{"good", {uri("=", "/good")}}.rule("s"));
    for (const bool given : {true, false}) {
        const std::string value = given ? R"(,"paramValue":null)" : "";
        const std::string condition = R"([{"paramType":"uri","operator":"=","paramName":"/")" + value + "}]";
        for (const char* id : {"bad", "good"}) {  // also in place of what is there
            const std::string head = R"({"id":")" + std::string(id) + R"(","name":"n","pluginName":"divide",)";
            HttpMessage answer =
                scene.caller.post(kRuleCall, head + R"("selectorId":"s","conditionDataList":)" + condition + "}");
            CHECK(answer.status() == 400);
            CHECK_THAT(answer.body, Contains("paramValue"));
            answer = scene.caller.post(kSelectorCall, head + R"("type":1,"conditionList":)" + condition + "}");
            CHECK(answer.status() == 400);
            CHECK(scene.reached("/good"));
            CHECK(!scene.reached("/bad"));
        }
    }
    scene.caller.rule(Entry{"all", {}}.rule("s"));
    CHECK(scene.reached("/bad"));
    Entry none{"none", {}, upstreams("127.0.0.1:1")};
    none.sort = -1;
    scene.caller.selector(none.selector());
    CHECK(scene.reached("/good"));
    scene.caller.deleteSelector("divide", "s");
    CHECK(notExists(send(scene.gateway, "GET", "/good")));
}

TEST_CASE("a full flow selector takes its last rule untested, and continued: false needs none") {
    const Scene scene;
    scene.base();
    scene.caller.rule(Entry{"all", {}}.rule("s"));
    Entry full{"c", {}, "", "contextPath"};
    full.more = R"(,"type":0)";
    scene.caller.selector(full.selector());
    Entry r1{"r1", {uri("=", "/one")}, R"({"addPrefix":"/r1"})", "contextPath"};
    Entry r2{"r2", {uri("=", "/two")}, R"({"addPrefix":"/r2"})", "contextPath"};
    r2.sort = 2;
    scene.caller.rule(r2.rule("c"));
    scene.caller.rule(r1.rule("c"));
    const auto asked = [&](const std::string& path) {
        CHECK(scene.reached(path));
        return scene.upstream.requests().back().startLine;
    };
    for (const std::string path : {"/one", "/two", "/three"}) CHECK(asked(path) == "GET /r2" + path + " HTTP/1.1");
    r2.enabled = false;  // the last one all the same
    scene.caller.rule(r2.rule("c"));
    CHECK(asked("/one") == "GET /r2/one HTTP/1.1");

    full.conditions = {uri("startsWith", "/")};
    full.more = R"(,"type":1,"continued":false)";
    scene.caller.selector(full.selector());
    // The default handle has no context path and no prefix, which leaves nothing of the path, as in ShenYu.
    for (const char* path : {"/one", "/two"}) CHECK(asked(path) == "GET / HTTP/1.1");

    // divide itself, with no rule at all.
    CHECK(scene.caller.get("/shenyu/plugin/rule/delete?pluginName=divide&selectorId=s&id=all").status() == 200);
    CHECK(!scene.reached("/one"));
    Entry base{"s", {uri("startsWith", "/")}, upstreams(scene.upstream.address())};
    base.more = R"(,"continued":false)";
    scene.caller.selector(base.selector());
    CHECK(scene.reached("/one"));
}

TEST_CASE("patterns: where ** may stand, siblings, and trailing slashes") {
    const Scene scene;
    scene.base();
    struct Row {
        const char* pattern;
        const char* path;
        bool byPathPattern;
        bool byMatch;
    };
    const Row rows[] = {
        {"/http/test/**", "/http/shenyu/hi", false, false},
        {"/http/test/**", "/http/test/hi", true, true},
        {"/a/**", "/a", true, true},
        {"/a/**", "/a/", true, true},
        {"/a/**", "/a/b/c", true, true},
        {"/a/**", "/ab", false, false},
        {"/a/b", "/a/b", true, true},
        {"/a/b", "/a/b/", false, false},
        {"/a/b/", "/a/b", false, false},
        {"/a/*", "/a", false, false},
        {"/a/*", "/a/", true, true},
        {"/a/*", "/a/b/", false, false},
        {"/{v}/u", "/1/u", true, true},
        {"/{v}/u", "//u", false, false},
        {"/{v}/u", "/1/2/u", false, false},
        {"/a/{v:[0-9]+}", "/a/12", true, true},
        {"/a/{v:[0-9]+}", "/a/b", false, false},
        {"/a b", "/a%20b", true, false},
        {"/A", "/a", false, false},
    };
    for (const Row& row : rows) {
        INFO(row.pattern << " on " << row.path);
        scene.caller.rule(Entry{"r", {uri("pathPattern", row.pattern)}}.rule("s"));
        CHECK(scene.reached(row.path) == row.byPathPattern);
        scene.caller.rule(Entry{"r", {uri("match", row.pattern)}}.rule("s"));
        CHECK(scene.reached(row.path) == row.byMatch);
    }
    // In the middle it is Ant's alone; a PathPattern with it is refused and the rule before serves on.
    scene.caller.rule(Entry{"r", {uri("match", "/api/**/x")}}.rule("s"));
    const HttpMessage refused = scene.caller.post(kRuleCall, Entry{"r", {uri("pathPattern", "/api/**/x")}}.rule("s"));
    CHECK(refused.status() == 400);
    CHECK_THAT(refused.body, Contains("**"));
    CHECK(scene.reached("/api/a/b/x"));
    CHECK(scene.reached("/api/x"));
    CHECK(!scene.reached("/api/a/b/y"));
}

TEST_CASE("metadata by call: a variable takes one segment, and a re-registration updates") {
    const Scene scene;
    scene.base();
    scene.caller.rule(Entry{"all", {}}.rule("s"));
    const auto metadata = [&](const std::string& appName, const std::string& rpcType, const std::string& id = "m1") {
        return scene.caller.post("/shenyu/meta/saveOrUpdate",
                                 R"({"id":")" + id + R"(","appName":")" + appName +
                                     R"(","contextPath":"/sup","path":"/sup/view/{id}","rpcType":")" + rpcType +
                                     R"(","serviceName":"org.View","methodName":"view","parameterTypes":"",)"
                                     R"("rpcExt":"","enabled":true,"namespaceId":null})");
    };
    CHECK(scene.reached("/sup/view/50"));
    CHECK(metadata("first", "dubbo").status() == 200);
    const HttpMessage passed = send(scene.gateway, "GET", "/sup/view/50");  // divide is for http alone
    CHECK(passed.status() == 502);
    CHECK(errorCode(passed) == "-103");
    for (const char* path : {"/sup/view/", "/sup/view", "/sup/view/50/x", "/sup/view/%2F"}) {
        INFO(path);
        CHECK(scene.reached(path));
    }

    CHECK(metadata("second", "dubbo").status() == 200);
    const auto page = [&] { return get(scene.gateway.managementPort(), "/actuator/metadata").body; };
    CHECK_THAT(page(), Contains("\"second\"") && !Contains("\"first\""));
    CHECK(countOf(page(), "/sup/view/{id}") == 1);
    CHECK(metadata("third", "http").status() == 200);
    CHECK(countOf(page(), "/sup/view/{id}") == 1);
    CHECK(scene.reached("/sup/view/50"));
    CHECK(metadata("fourth", "dubbo").status() == 200);
    CHECK(errorCode(send(scene.gateway, "GET", "/sup/view/50")) == "-103");
    CHECK(scene.caller.get("/shenyu/meta/delete?id=m1&rpcType=dubbo&path=/sup/view/%7Bid%7D").status() == 200);
    CHECK(scene.reached("/sup/view/50"));
    CHECK(page() == "[{}]");
}

TEST_CASE("a query parameter that is absent or empty meets only isBlank and exclude") {
    const Scene scene;
    scene.base();
    struct Row {
        const char* operatorName;
        const char* value;
        std::vector<std::string> met;  // of the queries below
    };
    const std::vector<std::string> queries = {"", "?", "?wat", "?wat=", "?WAT=bug", "?wat=%20", "?wat=a&wat=bug",
                                              "?wat=bug", "?wat=7", "?wat=-3.5"};
    const std::vector<std::string> blank = {"", "?", "?wat", "?wat=", "?WAT=bug", "?wat=%20"};
    std::vector<std::string> notBug = blank;
    notBug.insert(notBug.end(), {"?wat=a&wat=bug", "?wat=7", "?wat=-3.5"});
    const Row rows[] = {
        {"=", "bug", {"?wat=bug"}},
        {"regex", "b.g", {"?wat=bug"}},
        {"regex", ".*", {"?wat=a&wat=bug", "?wat=bug", "?wat=7", "?wat=-3.5"}},
        {">", "5", {"?wat=7"}},
        {"<", "5", {"?wat=-3.5"}},
        {">", "bug", {}},
        {"contains", "u", {"?wat=bug"}},
        {"startsWith", "b", {"?wat=bug"}},
        {"endsWith", "g", {"?wat=bug"}},
        {"match", "bug", {"?wat=bug"}},
        {"pathPattern", "bug", {"?wat=bug"}},
        {"exclude", "bug", notBug},
        {"isBlank", "", blank},
    };
    for (const Row& row : rows) {
        INFO(row.operatorName << ' ' << row.value);
        const HttpMessage answer =
            scene.caller.post(kRuleCall, Entry{"r", {{"query", row.operatorName, "wat", row.value}}}.rule("s"));
        if (answer.status() == 400) {  // what can never hold may be refused
            CHECK(row.met.empty());
            continue;
        }
        CHECK(answer.status() == 200);
        for (const std::string& query : queries) {
            INFO(query);
            CHECK(scene.reached("/a" + query) == (std::count(row.met.begin(), row.met.end(), query) > 0));
        }
    }
}

TEST_CASE("a match of what is marked loged is in the log, with plugin, selector, rule and the request's id") {
    Scene scene;
    Entry selector{"s", {uri("startsWith", "/")}, upstreams(scene.upstream.address())};
    Entry rule{"r", {}};
    scene.caller.selector(selector.selector());
    scene.caller.rule(rule.rule("s"));
    CHECK(scene.reached("/quiet"));
    struct Row {
        const char* selector;
        const char* rule;
    };
    const Row rows[] = {{R"(,"logged":true)", ""}, {R"(,"loged":true)", ""}, {"", R"(,"loged":true)"},
                        {R"(,"logged":true)", R"(,"loged":true)"}};
    for (const Row& row : rows) {
        INFO(row.selector << row.rule);
        selector.more = row.selector;
        rule.more = row.rule;
        scene.caller.selector(selector.selector());
        scene.caller.rule(rule.rule("s"));
        CHECK(scene.reached("/heard"));
        const std::string id = scene.upstream.requests().back().field("X-Request-Id").value_or("none");
        const std::string line = "plugin 'divide': selector 's name', rule 'r name' matched (GET /heard, request ";
        CHECK(logs(scene.gateway, line + id + ")", 1));
    }
    selector.more = R"(,"logged":null)";
    rule.more = R"(,"loged":false)";
    scene.caller.selector(selector.selector());
    scene.caller.rule(rule.rule("s"));
    CHECK(scene.reached("/quiet"));
    CHECK(scene.gateway.stop() == 0);
    CHECK_THAT(scene.gateway.process().output(), !Contains("/quiet"));
}

TEST_CASE("paramType post reads ShenYu's context of the request, not its body") {
    const Scene scene;
    scene.base();
    struct Row {
        const char* name;
        const char* operatorName;
        const char* value;
        bool holds;
    };
    const Row rows[] = {
        {"path", "=", "/http/a", true},
        {"path", "=", "/http/b", false},
        {"realUrl", "=", "/http/a", true},
        {"module", "=", "divide-http", true},
        {"method", "=", "/http/a", true},
        {"rpcType", "=", "http", true},
        {"rpcType", "=", "dubbo", false},
        {"httpMethod", "=", "GET", true},
        {"httpMethod", "=", "POST", false},
        {"contextPath", "isBlank", "", true},
        {"sign", "=", "abc", true},
        {"appKey", "startsWith", "key", true},
        {"timestamp", ">", "1000", true},
    };
    for (const Row& row : rows) {
        INFO(row.name << ' ' << row.operatorName << ' ' << row.value);
        scene.caller.rule(Entry{"r", {{"post", row.operatorName, row.name, row.value}}}.rule("s"));
        CHECK(scene.reached("/http/a?x=1", "sign: abc\r\nappKey: key-1\r\ntimestamp: 1700000000000\r\n") == row.holds);
    }
    scene.caller.rule(Entry{"r", {{"post", "isBlank", "startDateTime", ""}}}.rule("s"));
    CHECK(!scene.reached("/http/a"));
    const HttpMessage refused = scene.caller.post(kRuleCall, Entry{"r", {{"post", "=", "realurl", "x"}}}.rule("s"));
    CHECK(refused.status() == 400);
    CHECK_THAT(refused.body, Contains("realUrl"));
}
