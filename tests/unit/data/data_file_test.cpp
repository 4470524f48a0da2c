#include "data/data_file.hpp"

#include "config/yaml.hpp"
#include "support/catch.hpp"

using namespace weir;
using data::DataFiles;
using data::DataSet;

namespace {

struct File {
    std::string name;
    std::string text;
};

base::Result<DataSet> readAll(const std::vector<File>& files) {
    std::vector<std::string> warnings;
    DataFiles collected(warnings);
    for (const File& file : files) {
        auto root = config::parseYaml(file.text, file.name);
        REQUIRE(root);
        auto done = collected.add(*root, file.name);
        if (!done) return done.error();
    }
    return collected.take();
}

std::string error(const std::vector<File>& files) {
    auto set = readAll(files);
    return set ? "taken" : set.error().text();
}

}  // namespace

TEST_CASE("what a file leaves out comes from the place of the record") {
    auto set = readAll({{"f.yaml", R"(
plugins:
  - name: divide
    selectors:
      - name: orders
        rules: [{name: all}, {name: some}]
      - name: rest
        sort: 0
        id: "77"
        rules:
          - {name: only, id: r1, sort: 9}
  - name: contextPath
metadata: [{path: /b}, {path: /a, id: "1"}]
appAuth: [{appKey: k}]
)"}});
    REQUIRE(set);
    REQUIRE(set->plugins.size() == 2);
    CHECK(set->plugins[0]->name == "contextPath");
    REQUIRE(set->plugin("divide"));
    CHECK(set->plugin("divide")->id == "divide");
    CHECK(set->plugin("nope") == nullptr);

    auto selectors = set->selectorsOf("divide");
    REQUIRE(selectors.size() == 2);
    CHECK(selectors[0]->id == "77");
    CHECK(selectors[0]->sort == 0);
    CHECK(selectors[1]->id == "divide/orders");
    CHECK(selectors[1]->sort == 1);
    CHECK(selectors[1]->pluginName == "divide");
    CHECK(selectors[1]->pluginId == "divide");
    CHECK(set->selectorsOf("contextPath").empty());

    auto rules = set->rulesOf("divide", "divide/orders");
    REQUIRE(rules.size() == 2);
    CHECK(rules[0]->id == "divide/orders/all");
    CHECK(rules[0]->sort == 1);
    CHECK(rules[0]->selectorId == "divide/orders");
    CHECK(rules[1]->id == "divide/orders/some");
    CHECK(rules[1]->sort == 2);
    REQUIRE(set->rulesOf("divide", "77").size() == 1);
    CHECK(set->rulesOf("divide", "77")[0]->id == "r1");
    CHECK(set->rulesOf("divide", "77")[0]->sort == 9);
    CHECK(set->rulesOf("contextPath", "77").empty());

    CHECK(set->metadata[0]->id == "/b");
    CHECK(set->metadata[1]->id == "1");
    CHECK(set->appAuth[0]->appKey == "k");
}

TEST_CASE("selectors and rules are sorted by sort, then id, wherever they stand") {
    auto set = readAll({{"f.yaml", R"(
plugins:
  - name: p
    selectors:
      - {name: c, sort: 2}
      - {name: b, sort: 1}
      - {name: a, sort: 2, rules: [{name: z, sort: 5}, {name: y, sort: 5}, {name: x, sort: -1}]}
)"}});
    REQUIRE(set);
    std::string order;
    for (const auto& selector : set->selectorsOf("p")) order += selector->name;
    for (const auto& rule : set->rulesOf("p", "p/a")) order += rule->name;
    CHECK(order == "bacxyz");
}

TEST_CASE("several files may add selectors to one plugin, one of them may set its own keys") {
    const File main{"weir.yaml", "plugins: [{name: divide, enabled: false, selectors: [{name: a}]}]"};
    const File more{"more.yaml", "plugins: [{name: divide, selectors: [{name: b}]}]"};
    for (const auto& files : {std::vector<File>{main, more}, {more, main}}) {
        auto set = readAll(files);
        REQUIRE(set);
        REQUIRE(set->plugins.size() == 1);
        CHECK_FALSE(set->plugins[0]->enabled);
        REQUIRE(set->selectorsOf("divide").size() == 2);
        CHECK(set->selectorsOf("divide")[1]->sort == 2);
    }
    CHECK(error({main, {"b.yaml", "plugins: [{name: divide, sort: 3}]"}}) ==
          "b.yaml:1:11: the plugin \"divide\" has its own keys already at weir.yaml:1:11; expected only name and "
          "selectors here");
    CHECK(error({main, {"b.yaml", "plugins: [{name: divide, selectors: [{name: a}]}]"}}) ==
          "b.yaml:1:38: a second selector with the id \"divide/a\", first at weir.yaml:1:54");
}

TEST_CASE("an entry twice, or under the wrong parent, is refused naming both places") {
    struct Row { const char* yaml; const char* error; };
    const Row rows[] = {
        {"plugins:\n  - name: a\n  - name: a\n", "f.yaml:3:5: the plugin \"a\" is there twice, first at f.yaml:2:5"},
        {"plugins:\n  - name: p\n    selectors:\n      - name: s\n      - name: s\n",
         "f.yaml:5:9: a second selector with the id \"p/s\", first at f.yaml:4:9"},
        {"plugins:\n  - name: p\n    selectors:\n      - name: s\n        rules:\n          - {name: r}\n"
         "          - {name: r}\n",
         "f.yaml:7:13: a second rule with the id \"p/s/r\", first at f.yaml:6:13"},
        {"metadata:\n  - path: /a\n  - path: /a\n",
         "f.yaml:3:5: a second metadata with the id \"/a\", first at f.yaml:2:5"},
        {"appAuth:\n  - appKey: k\n  - appKey: k\n",
         "f.yaml:3:5: a second appAuth with the appKey \"k\", first at f.yaml:2:5"},
        {"plugins: [{name: p, selectors: [{name: s, pluginName: q}]}]",
         "f.yaml:1:55: pluginName: expected \"p\", which it stands under, got \"q\""},
        {"plugins: [{name: p, selectors: [{name: s, rules: [{name: r, selectorId: q}]}]}]",
         "f.yaml:1:73: selectorId: expected \"p/s\", which it stands under, got \"q\""},
        {"plugins: {name: p}", "f.yaml:1:10: plugins: expected a list, got a map"},
        {"plugins: [{name: p, selectors: {name: s}}]", "f.yaml:1:32: selectors: expected a list, got a map"},
        {"plugins: [{name: p, selectors: [{name: s, rules: r}]}]", "f.yaml:1:50: rules: expected a list, got \"r\""},
        {"plugins: [{name: p, selectrs: []}]",
         "f.yaml:1:21: plugin: unknown key \"selectrs\"; did you mean \"selectors\"?"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(error({{"f.yaml", row.yaml}}) == row.error);
    }
}

TEST_CASE("two plugins may use the same selector and rule ids") {
    CHECK(error({{"f.yaml", R"(
plugins:
  - {name: a, selectors: [{name: s, id: "1", rules: [{name: r, id: "1"}]}]}
  - {name: b, selectors: [{name: s, id: "1", rules: [{name: r, id: "1"}]}]}
)"}}) == "taken");
}
