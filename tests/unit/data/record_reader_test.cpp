#include "data/record_reader.hpp"

#include "config/yaml.hpp"
#include "support/catch.hpp"

using namespace weir;
using data::RecordReader;

namespace {

base::Value yaml(const std::string& text) {
    auto tree = config::parseYaml(text, "f.yaml");
    REQUIRE(tree);
    return *tree;
}

struct Reading {
    explicit Reading(RecordReader::Mode mode = RecordReader::Mode::Strict) : reader("f.yaml", mode, warnings) {}
    std::vector<std::string> warnings;
    RecordReader reader;
};

template <class Record>
std::string textOf(const base::Result<Record>& result) { return result ? "taken" : result.error().text(); }

}  // namespace

TEST_CASE("a selector has the defaults of a file and keeps what it names") {
    Reading reading;
    auto plain = reading.reader.readSelector(yaml("name: no"));
    REQUIRE(plain);
    CHECK(plain->name == "no");
    CHECK(plain->type == 1);
    CHECK(plain->matchMode == "and");
    CHECK(plain->enabled);
    CHECK(plain->continued);
    CHECK_FALSE(plain->logged);
    CHECK(plain->handle.isNull());
    CHECK(plain->conditions.empty());

    auto full = reading.reader.readSelector(yaml(R"(
name: orders
id: "7"
type: 0
matchMode: 1
sort: -3
enabled: off
loged: yes
continued: false
matchRestful: true
namespaceId: n
conditionList:
  - {paramType: header, operator: =, paramName: x-a, paramValue: on}
  - {paramType: uri, operator: isBlank}
handle: [{upstreamUrl: "127.0.0.1:8189", weight: 50}]
)"));
    REQUIRE(full);
    CHECK(full->id == "7");
    CHECK(full->type == 0);
    CHECK(full->matchMode == "or");
    CHECK(full->sort == -3);
    CHECK_FALSE(full->enabled);
    CHECK(full->logged);
    CHECK_FALSE(full->continued);
    CHECK(full->matchRestful);
    REQUIRE(full->conditions.size() == 2);
    CHECK(full->conditions[0].paramType == "header");
    CHECK(full->conditions[0].operatorName == "=");
    CHECK(full->conditions[0].paramName == "x-a");
    CHECK(full->conditions[0].paramValue == "on");
    CHECK(full->conditions[0].mark.line == 13);
    CHECK(full->conditions[1].paramValue == "");
    CHECK(base::toJson(full->handle) == R"([{"upstreamUrl":"127.0.0.1:8189","weight":50}])");
    CHECK(full->origin.file == "f.yaml");
    CHECK(full->origin.mark.line == 2);
}

TEST_CASE("conditions, and logging, have the names of ShenYu's records and of each other") {
    Reading reading;
    for (const char* key : {"conditions", "conditionList", "conditionDataList"}) {
        std::string text = "{name: a, " + std::string(key) + ": [{paramType: uri, operator: =, paramValue: /}]}";
        auto selector = reading.reader.readSelector(yaml(text));
        auto rule = reading.reader.readRule(yaml(text));
        REQUIRE(selector);
        REQUIRE(rule);
        CHECK(selector->conditions.size() == 1);
        CHECK(rule->conditions.size() == 1);
    }
    for (const char* key : {"logged", "loged"}) {
        std::string text = "{name: a, " + std::string(key) + ": true}";
        CHECK(reading.reader.readSelector(yaml(text))->logged);
        CHECK(reading.reader.readRule(yaml(text))->loged);
    }
}

TEST_CASE("a handle is a tree or JSON in a text, blank is none") {
    struct Row { const char* yaml; const char* handle; };
    const Row rows[] = {
        {"handle: {retry: 3, loadBalance: roundRobin}", R"({"retry":3,"loadBalance":"roundRobin"})"},
        {"handle: '{\"retry\":3}'", R"({"retry":3})"},
        {"handle: |\n  {\n    \"retry\": 3\n  }", R"({"retry":3})"},
        {"handle: ''", "null"},
        {"handle: '  '", "null"},
        {"handle: 'null'", "null"},
        {"handle:", "null"},
        {"handle: ~", "null"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        Reading reading;
        auto rule = reading.reader.readRule(yaml(std::string("name: r\n") + row.yaml));
        REQUIRE(rule);
        CHECK(base::toJson(rule->handle) == row.handle);
    }
    Reading reading;
    auto rule = reading.reader.readRule(yaml("name: r\nhandle: '{\"a\":\n\n [1]}'\n"));
    REQUIRE(rule);
    CHECK(rule->handle.find("a")->items()[0].mark().line == 2);
    CHECK(rule->handle.members()[0].keyMark.column == 9);
}

TEST_CASE("a wrong record is refused with its place and what was expected") {
    struct Row { const char* yaml; const char* error; };
    const Row rows[] = {
        {"[a]", "f.yaml:1:1: rule: expected a map, got a list"},
        {"id: 5", "f.yaml:1:1: rule: name is missing"},
        {"name: ", "f.yaml:1:1: rule.name: expected a text, got nothing"},
        {"name: ~", "f.yaml:1:7: rule.name: expected a text, got nothing"},
        {"name: ''", "f.yaml:1:7: rule.name: expected a text, got \"\""},
        {"name: {a: b}", "f.yaml:1:7: rule.name: expected a text, got a map"},
        {"name: r\nenabled: flase", "f.yaml:2:10: rule.enabled: expected true or false (or yes, no, on, off), got "
                                    "\"flase\"; did you mean \"false\"?"},
        {"name: r\nenabled:", "f.yaml:2:1: rule.enabled: expected true or false (or yes, no, on, off), got nothing"},
        {"name: r\nmatchMode: []",
         "f.yaml:2:12: rule.matchMode: expected 0 (all conditions), 1 (any of them) or the name of a strategy, got a "
         "list"},
        {"name: r\nconditions: [{paramType: uri, operator: match}]",
         "f.yaml:2:14: condition.paramValue: expected what \"match\" compares with, got nothing"},
        {"name: r\nconditions: [{paramType: uri, operator: match, paramValue: ~}]",
         "f.yaml:2:60: condition.paramValue: expected what \"match\" compares with, got nothing"},
        {"name: r\nsort: first", "f.yaml:2:7: rule.sort: expected a whole number, got \"first\""},
        {"name: r\nsort: 4294967296", "f.yaml:2:7: rule.sort: expected a whole number, got \"4294967296\""},
        {"name: r\nhandel: {}", "f.yaml:2:1: rule: unknown key \"handel\"; did you mean \"handle\"?"},
        {"name: r\ncondition: []", "f.yaml:2:1: rule: unknown key \"condition\"; did you mean \"conditions\"?"},
        {"name: r\nconditions: {paramType: uri}", "f.yaml:2:13: rule.conditions: expected a list, got a map"},
        {"name: r\nconditions: [uri]", "f.yaml:2:14: condition: expected a map, got \"uri\""},
        {"name: r\nconditions:\n  - {paramType: uri}", "f.yaml:3:5: condition: operator is missing"},
        {"name: r\nconditions:\n  - {operator: =}", "f.yaml:3:5: condition: paramType is missing"},
        {"name: r\nconditions:\n  - {paramType: uri, operater: =}",
         "f.yaml:3:22: condition: unknown key \"operater\"; did you mean \"operator\"?"},
        {"name: r\nconditions: []\nconditionDataList: []",
         "f.yaml:3:1: rule.conditionDataList says the same as a key in line 2"},
        {"name: r\nhandle: '{\"a\":1,}'",
         "f.yaml:2:9: rule.handle: expected a map, a list or JSON as a text; this text is not JSON at its 1:8: "
         "expected a key in double quotes, found \"}\""},
        {"name: r\nhandle: retry",
         "f.yaml:2:9: rule.handle: expected a map, a list or JSON as a text; this text is not JSON at its 1:1: "
         "expected a JSON value, found \"r\""},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        Reading reading;
        CHECK(textOf(reading.reader.readRule(yaml(row.yaml))) == row.error);
    }
    Reading reading;
    CHECK(textOf(reading.reader.readSelector(yaml("{name: s, type: full}"))) ==
          "f.yaml:1:17: selector.type: expected 0 (every request) or 1 (requests that meet the conditions), got "
          "\"full\"");
}

TEST_CASE("a plugin may have its own order, and a module in a file is only warned about") {
    Reading reading;
    auto plugin =
        reading.reader.readPlugin(yaml("{name: divide, sort: 200, config: '{\"multi\":\"x\"}', role: Proxy}"));
    REQUIRE(plugin);
    CHECK(plugin->sort == 200);
    CHECK(base::toJson(plugin->config) == R"({"multi":"x"})");
    CHECK_FALSE(reading.reader.readPlugin(yaml("name: divide"))->sort);
    CHECK(reading.warnings.empty());
    REQUIRE(reading.reader.readPlugin(yaml("{name: own, pluginJar: UEsDBA==, pluginJarSignature: eA==}")));
    CHECK(reading.warnings ==
          std::vector<std::string>{
              "f.yaml:1:24: plugin.pluginJar is taken from calls only",
              "f.yaml:1:54: plugin.pluginJarSignature is taken from calls only"});
}

TEST_CASE("metadata and app auth are read as ShenYu names them") {
    Reading reading;
    auto meta = reading.reader.readMetaData(
        yaml("{path: /http/order/**, rpcType: http, appName: http, contextPath: /http, rpcExt: '{\"retries\":0}'}"));
    REQUIRE(meta);
    CHECK(meta->path == "/http/order/**");
    CHECK(meta->enabled);
    CHECK(base::toJson(meta->rpcExt) == R"({"retries":0})");
    CHECK(textOf(reading.reader.readMetaData(yaml("{rpcType: http}"))) == "f.yaml:1:1: metadata: path is missing");

    auto auth = reading.reader.readAppAuth(yaml(R"(
appKey: 108C27175A2C43C1BC29B1E483D57E3D
appSecret: 061521A73DD94A3FA873C25D050685BB
open: true
paramDataList: [{appName: http, appParam: '{"id":1}'}]
pathDataList: [{appName: http, path: /http/**, enabled: no}]
)"));
    REQUIRE(auth);
    CHECK(auth->appSecret.reveal() == "061521A73DD94A3FA873C25D050685BB");
    CHECK(auth->enabled);
    CHECK(auth->open);
    CHECK(auth->paramDataList.at(0).appParam == R"({"id":1})");
    CHECK_FALSE(auth->pathDataList.at(0).enabled);
    CHECK(textOf(reading.reader.readAppAuth(yaml("{appSecret: hush}"))) == "f.yaml:1:1: appAuth: appKey is missing");
}

TEST_CASE("lenient reading takes ShenYu's sync data: unknown keys are one warning each, nulls leave the default") {
    Reading reading(RecordReader::Mode::Lenient);
    auto record = base::parseJson(R"({"id":"1","name":null,"pluginName":"divide","matchMode":7,"type":0,"sort":null,
        "enabled":true,"logged":null,"continued":null,"handle":"[{\"upstreamUrl\":\"h:1\"}]","newKey":1,
        "conditionList":[{"paramType":"uri","operator":"=","paramName":null,"paramValue":"/"}],
        "beforeConditionList":null})");
    REQUIRE(record);
    for (int i = 0; i < 2; ++i) {
        auto selector = reading.reader.readSelector(*record);
        REQUIRE(selector);
        CHECK(selector->name == "");
        CHECK(selector->matchMode == "7");
        CHECK(selector->type == 0);
        CHECK(selector->continued);
        CHECK(base::toJson(selector->handle) == R"([{"upstreamUrl":"h:1"}])");
    }
    REQUIRE(reading.warnings.size() == 1);
    CHECK(reading.warnings[0].find("selector.newKey is not known and ignored") != std::string::npos);
}
