#include "module/manifest.hpp"

#include <string>

#include "support/catch.hpp"

using namespace weir::module;

namespace {

// A good manifest with one piece replaced.
std::string replaced(const std::string& from, const std::string& to) {
    std::string text =
        R"({"schema":1,"id":"divide","version":"1.0.0","abi":1,"unload":"close","provides":[)"
        R"({"interface":"Plugin","key":"divide","order":200,"rpcTypes":["http"],"matching":"rule","unmatched":"error",)"
        R"("fields":{"rule":[{"name":"retry","type":"integer","default":"3","min":0,"max":100}]}},)"
        R"({"interface":"LoadBalancer","key":"random","weighted":true,"sticky":false}]})";
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a manifest says what a module is and provides") {
    const auto manifest = parseManifest(replaced("", ""));
    REQUIRE(manifest);
    CHECK(manifest->id == "divide");
    CHECK(manifest->version == "1.0.0");
    CHECK(manifest->abi == 1);
    CHECK(manifest->unload == Unload::Close);
    REQUIRE(manifest->provides.size() == 2);

    const Provided* divide = manifest->find("Plugin", "divide");
    REQUIRE(divide != nullptr);
    CHECK(divide->order == 200);
    CHECK(divide->rpcTypes == std::vector<std::string>{"http"});
    CHECK(divide->matching == Matching::Rule);
    CHECK(divide->unmatched == Unmatched::Error);
    REQUIRE(divide->fields.find("rule") != nullptr);
    CHECK(divide->fields.find("rule")->items().at(0).find("name")->text() == "retry");

    const Provided* random = manifest->find("LoadBalancer", "random");
    REQUIRE(random != nullptr);
    CHECK(random->weighted);
    CHECK_FALSE(random->sticky);
    CHECK(manifest->find("Plugin", "random") == nullptr);
}

TEST_CASE("what a manifest leaves out has a default") {
    const auto manifest = parseManifest(
        R"({"schema":1,"id":"a","version":"0","abi":1,"provides":[{"interface":"Plugin","key":"=","order":-1},)"
        R"({"interface":"FromTheFuture","key":"k","shape":[1,2]}],"added":"later"})");
    REQUIRE(manifest);
    CHECK(manifest->unload == Unload::Close);
    const Provided* plugin = manifest->find("Plugin", "=");
    REQUIRE(plugin != nullptr);
    CHECK(plugin->order == -1);
    CHECK(plugin->rpcTypes.empty());
    CHECK(plugin->matching == Matching::None);
    CHECK(plugin->unmatched == Unmatched::Pass);
    CHECK(plugin->fields.kind() == weir::base::Value::Kind::Null);
    CHECK(manifest->find("FromTheFuture", "k") != nullptr);
}

TEST_CASE("a manifest says what a module has for conditions") {
    const auto manifest = parseManifest(
        R"({"schema":1,"id":"a","version":"0","abi":1,"provides":[{"interface":"ParameterData","key":"tenant"},)"
        R"({"interface":"PredicateJudge","key":"ipRange"},{"interface":"MatchStrategy","key":"majority"}]})");
    REQUIRE(manifest);
    CHECK(manifest->find(kParameterDataInterface, "tenant") != nullptr);
    CHECK(manifest->find(kPredicateJudgeInterface, "ipRange") != nullptr);
    CHECK(manifest->find(kMatchStrategyInterface, "majority") != nullptr);
    CHECK(manifest->find(kMatchStrategyInterface, "tenant") == nullptr);
}

TEST_CASE("a manifest's error names the member, what was expected and what was found") {
    struct Row {
        const char* from;
        const char* to;
        const char* message;
    };
    const Row rows[] = {
        {R"({"schema")", R"(["schema")", "bad_manifest: the manifest is no JSON ("},
        {R"("schema":1)", R"("schema":2)", "bad_manifest: schema is 2, expected a whole number from 1 to 1"},
        {R"("schema":1,)", "", "bad_manifest: schema is missing, expected a whole number from 1 to 1"},
        {R"("schema":1)", R"("schema":"1")", "bad_manifest: schema is \"1\", expected a whole number from 1 to 1"},
        {R"("id":"divide")", R"("id":"")",
         "bad_manifest: id is \"\", expected 1 to 128 letters, digits, '.', '_' or '-'"},
        {R"("id":"divide")", R"("id":"../x")", "bad_manifest: id is \"../x\", expected"},
        {R"("id":"divide")", R"("id":7)", "bad_manifest: id is 7, expected "},
        {R"("id":"divide",)", "", "bad_manifest: id is missing"},
        {R"("version":"1.0.0")", R"("version":"new")", "bad_manifest: version is \"new\", expected a version such as"},
        {R"("abi":1)", R"("abi":0)", "abi_mismatch: the module's ABI is 0, expected 1, this gateway's"},
        {R"("abi":1,)", "", "abi_mismatch: the module's ABI is missing, expected 1, this gateway's"},
        {R"("abi":1)", R"("abi":4294967296)", "bad_manifest: abi is 4294967296, expected a whole number from 0"},
        {R"("abi":1)", R"("abi":1.5)", "bad_manifest: abi is 1.5, expected "},
        {R"("unload":"close")", R"("unload":"never")",
         R"(bad_manifest: unload is "never", expected "close" or "resident")"},
        {R"("interface":"Plugin",)", "", "bad_manifest: provides[0].interface is missing"},
        {R"("interface":"Plugin")", R"("interface":"a/b")",
         "bad_manifest: provides[0].interface is \"a/b\", expected an interface's name"},
        {R"("key":"divide")", R"("key":"di vide")",
         "bad_manifest: provides[0].key is \"di vide\", expected 1 to 128 printable"},
        {R"("key":"divide")", R"("key":"#x")", "bad_manifest: provides[0].key is \"#x\", "},
        {R"("order":200)", R"("order":2147483648)",
         "bad_manifest: provides[0].order is 2147483648, expected a whole number from -2147483648"},
        {R"("order":200,)", "", "bad_manifest: provides[0].order is missing"},
        {R"("rpcTypes":["http"])", R"("rpcTypes":"http")",
         "bad_manifest: provides[0].rpcTypes is \"http\", expected a list"},
        {R"("rpcTypes":["http"])", R"("rpcTypes":["http",null])",
         "bad_manifest: provides[0].rpcTypes[1] is nothing, expected a type's"},
        {R"("matching":"rule")", R"("matching":"all")", R"(provides[0].matching is "all", expected "none" or "rule")"},
        {R"("unmatched":"error")", R"("unmatched":true)",
         R"(provides[0].unmatched is true, expected "pass" or "error" or "call")"},
        {R"("fields":{"rule":[)", R"("fields":{"rule":[{"type":"x"},)", "provides[0].fields.rule[0].name is missing"},
        {R"("type":"integer")", R"("type":[])", "provides[0].fields.rule[0].type is a list, expected a type's name"},
        {R"("fields":{)", R"("fields":3,"more":{)",
         "provides[0].fields is 3, expected a map of config, selector and rule"},
        {R"("weighted":true)", R"("weighted":1)", "provides[1].weighted is 1, expected true or false"},
        {R"("interface":"LoadBalancer","key":"random")", R"("interface":"Plugin","order":1,"key":"divide")",
         R"(provides[1] is Plugin "divide" a second time, expected each key once)"},
        {R"("provides":[)", R"("provides":{},"more":[)", "provides is a map, expected a list"},
        {R"("provides":[)", R"("provides":[],"more":[)", "provides is empty, expected a list with at least one item"},
        {R"("provides":[)", R"("provides":["x",)", "provides[0].interface is missing"},
    };
    for (const Row& row : rows) {
        INFO(row.to);
        const auto manifest = parseManifest(replaced(row.from, row.to));
        REQUIRE_FALSE(manifest);
        INFO(manifest.error().text());
        CHECK(manifest.error().text().find(row.message) != std::string::npos);
    }
    CHECK_FALSE(parseManifest(""));
    CHECK_FALSE(parseManifest("[]"));
}
