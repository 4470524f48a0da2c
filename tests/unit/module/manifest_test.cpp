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

TEST_CASE("a manifest's error names the member, what was expected and what was found") {
    struct Row {
        const char* from;
        const char* to;
        const char* message;
    };
    const Row rows[] = {
        {R"({"schema")", R"(["schema")", "manifest: not JSON: "},
        {R"("schema":1)", R"("schema":2)", "manifest: schema must be a whole number from 1 to 1, not 2"},
        {R"("schema":1,)", "", "manifest: schema is missing, expected a whole number from 1 to 1"},
        {R"("schema":1)", R"("schema":"1")", "manifest: schema must be a whole number from 1 to 1, not \"1\""},
        {R"("id":"divide")", R"("id":"")", "manifest: id must be 1 to 128 letters, digits, '.', '_' or '-', not \"\""},
        {R"("id":"divide")", R"("id":"../x")", "manifest: id must be "},
        {R"("id":"divide")", R"("id":7)", "manifest: id must be "},
        {R"("id":"divide",)", "", "manifest: id is missing"},
        {R"("version":"1.0.0")", R"("version":"new")", "manifest: version must be a version such as"},
        {R"("abi":1)", R"("abi":0)", "manifest: abi must be a whole number from 1 to 4294967295, not 0"},
        {R"("abi":1)", R"("abi":4294967296)", "manifest: abi must be "},
        {R"("abi":1)", R"("abi":1.5)", "manifest: abi must be "},
        {R"("unload":"close")", R"("unload":"never")",
         R"(manifest: unload must be "close" or "resident", not "never")"},
        {R"("interface":"Plugin",)", "", "manifest: provides[0].interface is missing"},
        {R"("interface":"Plugin")", R"("interface":"a/b")",
         "manifest: provides[0].interface must be an interface's name"},
        {R"("key":"divide")", R"("key":"di vide")", "manifest: provides[0].key must be 1 to 128 printable"},
        {R"("key":"divide")", R"("key":"#x")", "manifest: provides[0].key must be "},
        {R"("order":200)", R"("order":2147483648)",
         "manifest: provides[0].order must be a whole number from -2147483648"},
        {R"("order":200,)", "", "manifest: provides[0].order is missing"},
        {R"("rpcTypes":["http"])", R"("rpcTypes":"http")",
         "manifest: provides[0].rpcTypes must be a list, not \"http\""},
        {R"("rpcTypes":["http"])", R"("rpcTypes":["http",null])", "manifest: provides[0].rpcTypes[1] must be a type's"},
        {R"("matching":"rule")", R"("matching":"all")", R"(provides[0].matching must be "none" or "rule", not "all")"},
        {R"("unmatched":"error")", R"("unmatched":true)",
         R"(provides[0].unmatched must be "pass" or "error" or "call", not true)"},
        {R"("fields":{"rule":[)", R"("fields":{"rule":[{"type":"x"},)", "provides[0].fields.rule[0].name is missing"},
        {R"("type":"integer")", R"("type":[])", "provides[0].fields.rule[0].type must be a type's name, not a list"},
        {R"("fields":{)", R"("fields":3,"more":{)",
         "provides[0].fields must be a map of config, selector and rule, not 3"},
        {R"("weighted":true)", R"("weighted":1)", "provides[1].weighted must be true or false, not 1"},
        {R"("interface":"LoadBalancer","key":"random")", R"("interface":"Plugin","order":1,"key":"divide")",
         R"(provides[1] offers Plugin "divide" a second time)"},
        {R"("provides":[)", R"("provides":{},"more":[)", "provides must be a list, not a map"},
        {R"("provides":[)", R"("provides":[],"more":[)", "provides must be a list with at least one item"},
        {R"("provides":[)", R"("provides":["x",)", "provides[0].interface is missing"},
    };
    for (const Row& row : rows) {
        INFO(row.to);
        const auto manifest = parseManifest(replaced(row.from, row.to));
        REQUIRE_FALSE(manifest);
        INFO(manifest.error().message);
        CHECK(manifest.error().code == weir::base::ErrorCode::InvalidModule);
        CHECK(manifest.error().message.find(row.message) != std::string::npos);
    }
    CHECK_FALSE(parseManifest(""));
    CHECK_FALSE(parseManifest("[]"));
}
