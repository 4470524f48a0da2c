#include "data/record_writer.hpp"

#include "config/yaml.hpp"
#include "data/record_reader.hpp"
#include "support/catch.hpp"

using namespace weir;
using namespace weir::data;

namespace {

template <class Record>
Record read(base::Result<Record> (RecordReader::*readOne)(const base::Value&), const std::string& yaml) {
    std::vector<std::string> warnings;
    RecordReader reader("f.yaml", RecordReader::Mode::Strict, warnings);
    auto tree = config::parseYaml(yaml, "f.yaml");
    REQUIRE(tree);
    auto record = (reader.*readOne)(*tree);
    REQUIRE(record);
    return *record;
}

// The record that the JSON text `json` makes.
template <class Record>
Record readBack(base::Result<Record> (RecordReader::*readOne)(const base::Value&), const std::string& json) {
    std::vector<std::string> warnings;
    RecordReader reader("f.json", RecordReader::Mode::Lenient, warnings);
    auto tree = base::parseJson(json);
    REQUIRE(tree);
    auto record = (reader.*readOne)(*tree);
    REQUIRE(record);
    CHECK(warnings.empty());
    return *record;
}

}  // namespace

TEST_CASE("records are written in ShenYu's shape, trees as JSON texts, and read back as they were") {
    auto plugin = read(&RecordReader::readPlugin,
                       "{name: a, id: 7, role: Proxy, enabled: no, sort: -3, config: {k: [1, x]}}");
    std::string json = base::toJson(toValue(plugin));
    CHECK(json == R"({"id":"7","name":"a","config":"{\"k\":[1,\"x\"]}","role":"Proxy","enabled":false,"sort":-3,)"
                  R"("namespaceId":""})");
    CHECK(base::toJson(toValue(readBack(&RecordReader::readPlugin, json))) == json);

    auto selector = read(&RecordReader::readSelector,
                         "{name: s, id: '1', pluginName: a, pluginId: p, type: 0, matchMode: 1, sort: 4, logged: yes, "
                         "continued: no, matchRestful: yes, handle: [{upstreamUrl: u}], namespaceId: n, "
                         "conditions: [{paramType: uri, operator: match, paramValue: /**}]}");
    json = base::toJson(toValue(selector));
    CHECK(json == R"({"id":"1","pluginId":"p","pluginName":"a","name":"s","matchMode":1,"type":0,"sort":4,)"
                  R"("enabled":true,"logged":true,"continued":false,"handle":"[{\"upstreamUrl\":\"u\"}]",)"
                  R"("conditionList":[{"paramType":"uri","operator":"match","paramName":"","paramValue":"/**"}],)"
                  R"("matchRestful":true,"namespaceId":"n"})");
    CHECK(base::toJson(toValue(readBack(&RecordReader::readSelector, json))) == json);

    auto rule = read(&RecordReader::readRule,
                     "{name: r, id: '2', pluginName: a, selectorId: '1', loged: yes, sort: 2}");
    json = base::toJson(toValue(rule));
    CHECK(json == R"({"id":"2","name":"r","pluginName":"a","selectorId":"1","matchMode":0,"sort":2,"enabled":true,)"
                  R"("loged":true,"handle":null,"conditionDataList":[],"matchRestful":false,"namespaceId":""})");
    CHECK(base::toJson(toValue(readBack(&RecordReader::readRule, json))) == json);

    auto metaData = read(&RecordReader::readMetaData,
                         "{path: /a/**, id: m, appName: x, rpcType: http, rpcExt: '{\"t\":1}'}");
    json = base::toJson(toValue(metaData));
    CHECK(json == R"({"id":"m","appName":"x","contextPath":"","path":"/a/**","rpcType":"http","serviceName":"",)"
                  R"("methodName":"","parameterTypes":"","rpcExt":"{\"t\":1}","enabled":true,"namespaceId":""})");
    CHECK(base::toJson(toValue(readBack(&RecordReader::readMetaData, json))) == json);
}

TEST_CASE("a plugin without sort says null") {
    CHECK_THAT(base::toJson(toValue(read(&RecordReader::readPlugin, "name: a"))), Catch::Contains(R"("sort":null)"));
}

TEST_CASE("an app secret is written only where it is asked for") {
    auto auth = read(&RecordReader::readAppAuth,
                     "{appKey: k, appSecret: s3cret, open: yes, paramDataList: [{appName: a, appParam: p}], "
                     "pathDataList: [{appName: a, path: /x, enabled: no}]}");
    const std::string rest = R"("enabled":true,"open":true,"paramDataList":[{"appName":"a","appParam":"p"}],)"
                             R"("pathDataList":[{"appName":"a","path":"/x","enabled":false}],"namespaceId":""})";
    CHECK(base::toJson(toValue(auth, Secrets::Hidden)) == R"({"appKey":"k",)" + rest);
    const std::string json = base::toJson(toValue(auth, Secrets::Written));
    CHECK(json == R"({"appKey":"k","appSecret":"s3cret",)" + rest);
    CHECK(base::toJson(toValue(readBack(&RecordReader::readAppAuth, json), Secrets::Written)) == json);
}
