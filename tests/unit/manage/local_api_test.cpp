#include "manage/local_api.hpp"

#include <optional>
#include <sstream>

#include "support/catch.hpp"
#include "unit/manage/fake_control.hpp"

using namespace weir;
using namespace weir::manage;

namespace {

struct Local {
    FakeControl control;
    LocalApi api{{&control, nullptr, false}, config::Secret(kSampleHash)};

    PageReply get(std::string_view target) { return api.answer({"GET", target, "", "123456", nullptr}); }
    PageReply post(std::string_view target, const std::string& body) {
        std::istringstream stream(body);
        return api.answer({"POST", target, "", "123456", &stream});
    }
    // The answer, which must be a 200.
    std::string ask(std::string_view target) { return body(get(target)); }
    std::string send(std::string_view target, const std::string& text) { return body(post(target, text)); }

    const data::DataSet& data() const { return control.store.data(); }

private:
    static std::string body(const PageReply& reply) {
        INFO(reply.body);
        CHECK(reply.status == 200);
        return reply.body;
    }
};

bool isNumber(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

TEST_CASE("the local calls answer to the right key only") {
    struct Row { const char* hash; const char* key; const char* message; };
    const std::string lower = "ba3253876aed6bc22d4a6ff53d8406c6ad864195ed144ab5c87621b6c233b548"
                              "baeae6956df346ec8c17f5ea10f35ee3cbc514797ed7ddd3145464e2a0bab413";
    const Row rows[] = {
        {kSampleHash, "123456", nullptr},
        {lower.c_str(), "123456", nullptr},
        {kSampleHash, "", "The key is not correct."},
        {kSampleHash, "123457", "The key is not correct."},
        {kSampleHash, kSampleHash, "The key is not correct."},
        {"123456", "123456", "The key is not correct."},
        {"", "123456", "These calls are closed: set weir.local.sha512Key to the SHA-512 of a key, in hex."},
        {"", "", "These calls are closed: set weir.local.sha512Key to the SHA-512 of a key, in hex."},
    };
    for (const Row& row : rows) {
        INFO(row.hash << " " << row.key);
        FakeControl control;
        const LocalApi api({&control, nullptr, false}, config::Secret(row.hash));
        std::istringstream body("{");
        const PageReply read = api.answer({"GET", "/shenyu/cleanAll", "", row.key, nullptr});
        CHECK(read.status == (row.message ? 403 : 200));
        const PageReply unknown = api.answer({"POST", "/shenyu/none", "", row.key, &body});
        CHECK(unknown.status == (row.message ? 403 : 404));
        if (row.message) CHECK(read.body == "{\"code\":403,\"message\":\"" + std::string(row.message) + "\"}");
        CHECK(body.tellg() == 0);
    }
}

TEST_CASE("a plugin is saved, found, deleted and cleaned") {
    Local local;
    CHECK(local.ask("/shenyu/plugin/findByName?name=divide") == "can not find this plugin : divide");
    CHECK(local.send("/shenyu/plugin/saveOrUpdate",
                     R"({"name":"divide","role":"Proxy","sort":null,"config":"{\"k\":1}","other":[]})") == "success");
    CHECK(local.ask("/shenyu/plugin/findByName?name=divide") ==
          R"({"id":"divide","name":"divide","config":"{\"k\":1}","role":"Proxy","enabled":true,"sort":null,)"
          R"("namespaceId":""})");
    local.send("/shenyu/plugin/saveOrUpdate", R"({"name":"a b+c"})");
    CHECK(local.ask("/shenyu/plugin/delete?name=a%20b%2bc") == "success");
    CHECK(local.data().plugins.size() == 1);
    local.send("/shenyu/plugin/selector/saveOrUpdate", R"({"id":"1","pluginName":"divide"})");
    local.send("/shenyu/plugin/rule/saveOrUpdate", R"({"id":"2","selectorId":"1"})");
    CHECK(local.ask("/shenyu/plugin/deleteAll") == "success");
    CHECK(local.data().plugins.empty());
    CHECK(local.data().rules.size() == 1);
    CHECK(local.ask("/shenyu/cleanPlugin?name=divide") == "success");
    CHECK(local.data().selectors.empty());
    CHECK(local.data().rules.empty());
    local.send("/shenyu/plugin/saveOrUpdate", R"({"name":"x"})");
    CHECK(local.ask("/shenyu/cleanAll") == "success");
    CHECK(local.data().plugins.empty());
}

TEST_CASE("a selector gets what it leaves out and its id is the answer") {
    Local local;
    CHECK(local.send("/shenyu/plugin/selector/saveOrUpdate", "{}") == "Error: please add pluginName!");
    const std::string id = local.send("/shenyu/plugin/selector/saveOrUpdate", R"({"pluginName":"divide","id":null})");
    CHECK(isNumber(id));
    REQUIRE(local.data().selectors.size() == 1);
    const data::SelectorData selector = local.data().selectors[0];
    CHECK(selector.id == id);
    CHECK_THAT(selector.name, Catch::Matches("divide:selector[0-9]{1,3}"));
    CHECK(selector.type == 0);
    CHECK(selector.matchMode == "and");
    CHECK(selector.sort == 10);
    CHECK(selector.enabled);
    CHECK(selector.continued);
    CHECK_FALSE(selector.logged);

    const char* whole = R"({"id":"7","pluginName":"divide","name":"n","type":1,"matchMode":1,"sort":0,"enabled":false,)"
                        R"("handle":"[{\"upstreamUrl\":\"u\"}]","conditionList":[{"paramType":"uri","operator":"=",)"
                        R"("paramName":"/","paramValue":"/a"}]})";
    CHECK(local.send("/shenyu/plugin/selector/saveOrUpdate", whole) == "7");
    const std::string list = local.ask("/shenyu/plugin/selector/findList?pluginName=divide&id=7");
    CHECK_THAT(list, Catch::StartsWith(R"([{"id":"7",)") && Catch::Contains(R"("sort":0,)") &&
                         Catch::Contains(R"("handle":"[{\"upstreamUrl\":\"u\"}]")"));
    CHECK(base::parseJson(local.ask("/shenyu/plugin/selector/findList?pluginName=divide"))->items().size() == 2);
    CHECK(local.ask("/shenyu/plugin/selector/findList?pluginName=divide&id=8") == "[]");
    CHECK(local.ask("/shenyu/plugin/selector/findList?pluginName=x") ==
          "Error: can not find selector data by pluginName :x");
    CHECK(local.ask("/shenyu/plugin/selector/delete?pluginName=divide&id=7") == "success");
    CHECK(local.ask("/shenyu/plugin/selector/delete?pluginName=divide&id=7") == "success");
    CHECK(local.data().selectors.size() == 1);
}

TEST_CASE("a rule gets what it leaves out, its plugin from its selector") {
    Local local;
    CHECK(local.send("/shenyu/plugin/rule/saveOrUpdate", "{}") == "Error: please add selectorId!");
    CHECK(local.post("/shenyu/plugin/rule/saveOrUpdate", R"({"selectorId":"1"})").body ==
          R"({"code":400,"message":"pluginName is missing, and no plugin has a selector 1"})");
    local.send("/shenyu/plugin/selector/saveOrUpdate", R"({"id":"1","pluginName":"a"})");
    const std::string id = local.send("/shenyu/plugin/rule/saveOrUpdate", R"({"selectorId":"1"})");
    CHECK(isNumber(id));
    CHECK(local.data().rules[0]->pluginName == "a");
    CHECK(local.data().rules[0]->sort == 10);
    CHECK(local.ask("/shenyu/plugin/rule/findList?selectorId=2") ==
          "Error: can not find rule data by selector id :2");
    CHECK_THAT(local.ask("/shenyu/plugin/rule/findList?selectorId=1"), Catch::StartsWith("[{\"id\":\"" + id + "\""));

    local.send("/shenyu/plugin/selector/saveOrUpdate", R"({"id":"1","pluginName":"b"})");
    CHECK(local.post("/shenyu/plugin/rule/saveOrUpdate", R"({"selectorId":"1"})").status == 400);
    CHECK(local.send("/shenyu/plugin/rule/saveOrUpdate", R"({"selectorId":"1","id":"2","pluginName":"b"})") == "2");
    CHECK(local.ask("/shenyu/plugin/rule/delete?selectorId=1&id=2&pluginName=a") == "success");
    CHECK(local.data().rules.size() == 2);
    CHECK(local.ask("/shenyu/plugin/rule/delete?selectorId=1&id=2&pluginName=b") == "success");
    CHECK(local.data().rules.size() == 1);
}

TEST_CASE("a selector comes with its rules in one call") {
    Local local;
    const std::string conditions = R"("conditionDataList":[{"paramType":"uri","operator":"match","paramValue":"/**"}])";
    CHECK(local.send("/shenyu/plugin/selectorAndRule",
                     R"({"pluginName":"a","selectorName":"ignored","selectorHandler":"[1]",)"
                     R"("ruleHandler":"{\"b\":2}",)" +
                         conditions + "}") == "success");
    REQUIRE(local.data().selectors.size() == 1);
    REQUIRE(local.data().rules.size() == 1);
    const data::SelectorData& selector = local.data().selectors[0];
    CHECK_THAT(selector.name, Catch::StartsWith("a:selector"));
    CHECK(selector.type == 1);
    CHECK(selector.conditions.size() == 1);
    CHECK(base::toJson(selector.handle) == "[1]");
    const data::RuleData& rule = local.data().rules[0];
    CHECK(rule.pluginName == "a");
    CHECK(rule.selectorId == selector.id);
    CHECK(rule.conditions.size() == 1);
    CHECK(base::toJson(rule.handle) == R"({"b":2})");

    CHECK(local.send("/shenyu/plugin/selectorAndRules",
                     R"({"pluginName":"b","selectorName":"x","matchMode":1,"sort":3,"selectorHandler":"",)" +
                         conditions +
                         R"(,"ruleDataList":[{"ruleName":"first","ruleHandler":"{}","matchMode":1,)" + conditions +
                         R"(},{"ruleName":null,"conditionDataList":[]}]})") == "success");
    const auto selectors = local.data().selectorsOf("b");
    REQUIRE(selectors.size() == 1);
    CHECK(selectors[0]->sort == 3);
    CHECK(selectors[0]->matchMode == "or");
    const auto rules = local.data().rulesOf("b", selectors[0]->id);
    REQUIRE(rules.size() == 2);
    CHECK(rules[0]->name == "first");
    CHECK(rules[0]->matchMode == "or");
    CHECK_THAT(rules[1]->name, Catch::StartsWith("b:rule"));
    CHECK(rules[1]->matchMode == "and");

    CHECK(local.send("/shenyu/plugin/selectorAndRules", "{}") == "Error: please add pluginName!");
    CHECK(local.post("/shenyu/plugin/selectorAndRules", R"({"pluginName":"c","ruleDataList":[1]})").status == 400);
    CHECK(local.post("/shenyu/plugin/selectorAndRules", R"({"pluginName":"c","ruleDataList":1})").status == 400);
    CHECK(local.data().selectorsOf("c").empty());
}

TEST_CASE("app auth and metadata are saved and deleted") {
    Local local;
    CHECK(local.send("/shenyu/auth/saveOrUpdate", R"({"appKey":"k","appSecret":"s","enabled":true})") == "success");
    CHECK(local.data().appAuth[0]->appSecret.reveal() == "s");
    CHECK(local.ask("/shenyu/auth/delete?appKey=k") == "success");
    CHECK(local.data().appAuth.empty());
    CHECK(local.send("/shenyu/meta/saveOrUpdate", R"({"path":"/a","rpcType":"http"})") == "success");
    CHECK(local.data().metadata[0]->id == "/a");
    CHECK(local.ask("/shenyu/meta/delete?id=%2Fa&rpcType=http&path=/a") == "success");
    CHECK(local.data().metadata.empty());
}

TEST_CASE("metadata is deleted by its id, or without one by path and rpcType") {
    struct Row { const char* query; int status; std::vector<std::string> left; };
    const Row rows[] = {
        {"id=1&rpcType=other&path=/other", 200, {"2", "3"}},
        {"id=9&rpcType=http&path=/a", 200, {"1", "2", "3"}},
        {"id=&rpcType=http&path=%2Fa", 200, {"2", "3"}},
        {"rpcType=grpc&path=/a", 200, {"1", "3"}},
        {"rpcType=grpc&path=/b", 200, {"1", "2", "3"}},
        {"rpcType=http", 400, {"1", "2", "3"}},
        {"path=/a", 400, {"1", "2", "3"}},
        {"id=", 400, {"1", "2", "3"}},
    };
    for (const Row& row : rows) {
        INFO(row.query);
        Local local;
        local.send("/shenyu/meta/saveOrUpdate", R"({"id":"1","path":"/a","rpcType":"http"})");
        local.send("/shenyu/meta/saveOrUpdate", R"({"id":"2","path":"/a","rpcType":"grpc"})");
        local.send("/shenyu/meta/saveOrUpdate", R"({"id":"3","path":"/b","rpcType":"http"})");
        CHECK(local.get("/shenyu/meta/delete?" + std::string(row.query)).status == row.status);
        std::vector<std::string> left;
        for (const data::MetaData& metaData : local.data().metadata) left.push_back(metaData.id);
        CHECK(left == row.left);
    }
}

TEST_CASE("what cannot be read or is refused changes nothing and says why") {
    struct Row { const char* method; const char* target; std::string body; int status; const char* message; };
    const Row rows[] = {
        {"POST", "/shenyu/plugin/saveOrUpdate", "{\n  oops", 400, "request body:2:3: "},
        {"POST", "/shenyu/plugin/saveOrUpdate", "", 400, "request body:1:1: "},
        {"POST", "/shenyu/plugin/saveOrUpdate", "{}", 400, "request body:1:1: plugin: name is missing"},
        {"POST", "/shenyu/plugin/saveOrUpdate", R"({"name":"a","sort":"x"})", 400, "request body:1:20: plugin.sort: "},
        {"POST", "/shenyu/plugin/selectorAndRule", "[]", 400, "selector: expected a map, got a list"},
        {"POST", "/shenyu/plugin/saveOrUpdate", std::string(4 * 1024 * 1024 + 1, ' '), 413, "4194304"},
        {"POST", "/shenyu/plugin/saveOrUpdate", R"({"name":"a"})", 400, "no such thing"},
        {"GET", "/shenyu/plugin/saveOrUpdate", "", 405, "POST"},
        {"POST", "/shenyu/cleanAll", "", 405, "GET"},
        {"GET", "/shenyu/plugin/delete", "", 400, "parameter name is missing"},
        {"GET", "/shenyu/plugin/delete?name=%zz", "", 400, "query"},
        {"GET", "/shenyu/plugin/selector/delete?id=1", "", 400, "pluginName"},
        {"GET", "/shenyu/", "", 404, "no such call"},
    };
    Local local;
    local.control.refusal.message = "no such thing";
    for (const Row& row : rows) {
        INFO(row.method << " " << row.target << " " << row.body.substr(0, 40));
        std::istringstream body(row.body);
        const PageReply reply = local.api.answer({row.method, row.target, "", "123456", &body});
        CHECK(reply.status == row.status);
        CHECK_THAT(reply.body, Catch::StartsWith("{\"code\":" + std::to_string(row.status)) &&
                                   Catch::Contains(row.message));
        CHECK(reply.allow == (row.status == 405 ? row.message : ""));
    }
    CHECK(local.data().plugins.empty());
    local.control.refusal.retryable = true;
    CHECK(local.get("/shenyu/cleanAll").status == 503);
}
