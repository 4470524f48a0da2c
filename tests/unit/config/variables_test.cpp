#include "config/variables.hpp"

#include "config/yaml.hpp"
#include "support/catch.hpp"

using namespace weir;
using config::Environment;

namespace {

const Environment kEnvironment = {
    {"P", "a$b#c: d\"e'f\\g%h{i}"}, {"LINES", "one\ntwo: 2\n"}, {"PORT", "8080"}, {"EMPTY", ""},   {"NULLWORD", "null"},
    {"REFERS", "${PORT}"},          {"lower", "small"},        {"A.B-c", "dotted"}, {"LATIN", "\xE9"}};

base::Result<base::Value> expand(std::string_view yaml) {
    auto tree = config::parseYaml(yaml, "weir.yaml");
    REQUIRE(tree);
    return config::Variables(kEnvironment).expand(*tree, "weir.yaml");
}

// What the whole document, a scalar, becomes; or the error.
std::string expanded(const std::string& text) {
    auto value = expand("v: '" + text + "'");
    return value ? value->find("v")->text() : value.error().text();
}

std::string json(std::string_view yaml) {
    auto value = expand(yaml);
    return value ? base::toJson(*value) : value.error().text();
}

}  // namespace

TEST_CASE("a variable's value stands in its place, as data") {
    struct Row { std::string text; std::string becomes; };
    const std::string& hostile = kEnvironment.at("P");
    const Row rows[] = {
        {"${P}", hostile},
        {"ws://u:${P}@h", "ws://u:" + hostile + "@h"},
        {"${LINES}", "one\ntwo: 2\n"},
        {"${PORT}:${PORT}${PORT}", "8080:80808080"},
        {"${REFERS}", "${PORT}"},
        {"${EMPTY}", ""},
        {"${EMPTY:dflt}", ""},
        {"${NOPE:}", ""},
        {"${NOPE:dflt}", "dflt"},
        {"${PORT:dflt}", "8080"},
        {"${NOPE:http://x:1}", "http://x:1"},
        {"${NOPE:{\"a\": {}}}", "{\"a\": {}}"},
        {"${NOPE:${PORT}}", "8080"},
        {"${NOPE:${NADA:c}}", "c"},
        {"x${NOPE:${NADA:<${PORT}>}y}z", "x<8080>yz"},
        {"${NOPE:$${PORT}}", "${PORT}"},
        {"${PORT:${NEITHER}}", "8080"},
        {"${lower} ${A.B-c}", "small dotted"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK(expanded(row.text) == row.becomes);
    }
}

TEST_CASE("what only resembles a variable stays") {
    for (const char* text : {"$", "$$", "a$b", "/b/$1", "$PORT", "{PORT}", "${}", "${:x}", "${ PORT}", "${not a name",
                             "${a b}", "${1}", "${int|1-10}", "${-x}", "^/x{1,2}$", "${", "$ {PORT}", "$$1"}) {
        CHECK(expanded(text) == text);
    }
    CHECK(expanded("$${P}") == "${P}");
    CHECK(expanded("$${NOPE}${PORT}") == "${NOPE}8080");
    CHECK(expanded("$$${P}") == "$${P}");
    CHECK(expanded("$${") == "${");
}

TEST_CASE("a variable without value is refused by name and place, values are never shown") {
    struct Row { const char* yaml; const char* error; };
    const Row rows[] = {
        {"a: 1\nb: {c: 'x ${NOPE} y'}\n",
         "weir.yaml:2:8: the environment variable NOPE is not set and \"${NOPE}\" has no default, as "
         "\"${NOPE:default}\" has; \"$${\" stands for \"${\""},
        {"- ${P}\n- ${NOPE:${NADA}}\n",
         "weir.yaml:2:3: the environment variable NADA is not set and \"${NADA}\" has no default, as "
         "\"${NADA:default}\" has; \"$${\" stands for \"${\""},
        {"a: '${PORT'\n", "weir.yaml:1:4: \"${PORT\" is never closed with \"}\"; \"$${\" stands for \"${\""},
        {"a: '${P:{}'\n", "weir.yaml:1:4: \"${P\" is never closed with \"}\"; \"$${\" stands for \"${\""},
        {"a: ${LATIN}\n", "weir.yaml:1:4: what the environment variable LATIN holds is not UTF-8"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(json(row.yaml) == row.error);
    }
    std::string deep;
    for (int i = 0; i < 20; ++i) deep += "${NOPE:";
    CHECK(json("a: '" + deep + std::string(20, '}') + "'") ==
          "weir.yaml:1:4: defaults of variables are nested deeper than 16 levels");
}

TEST_CASE("keys stay, values keep their place and what they are") {
    CHECK(json("${PORT}: x\n") == R"({"${PORT}":"x"})");
    auto tree = expand("a: ${PORT}\nb: '${PORT}'\nc: ${NULLWORD}\nd: [1, '${P}']\ne:\n  f: ${NOPE:yes}\n");
    REQUIRE(tree);
    CHECK(tree->find("a")->toInt() == 8080);
    CHECK_FALSE(tree->find("a")->quoted());
    CHECK(tree->find("b")->quoted());
    CHECK_FALSE(tree->find("c")->isNull());
    CHECK(tree->find("c")->text() == "null");
    CHECK(tree->find("e")->find("f")->toBool() == true);
    CHECK(tree->find("e")->find("f")->mark().line == 6);
    CHECK(tree->members()[4].keyMark.line == 5);
}

TEST_CASE("inside a plugin's own values only capitals are variables, and in JSON text only those of strings") {
    struct Row { const char* yaml; const char* json; };
    const Row rows[] = {
        {"handle: {a: '${PORT}', b: '${lower} ${phone} ${int|1-2}', c: '$${PORT}'}\n",
         R"({"handle":{"a":"8080","b":"${lower} ${phone} ${int|1-2}","c":"${PORT}"}})"},
        {"handle: '{\"a\":\"<${P}>\",\"n\":\"${PORT}\",\"${PORT}\":[\"${NOPE:x}\"]}'\n",
         R"({"handle":{"a":"<a$b#c: d\"e'f\\g%h{i}>","n":"8080","${PORT}":["x"]}})"},
        {"handle: '{\"a\": ${PORT}}'\n", R"({"handle":"{\"a\": ${PORT}}"})"},
        {"handle: ${NOPE:{\"a\":1}}\n", R"({"handle":"{\"a\":1}"})"},
        {"config: '{\"password\":\"${P}\"}'\n", R"({"config":{"password":"a$b#c: d\"e'f\\g%h{i}"}})"},
        {"rpcExt: '[\"${PORT}\"]'\n", R"({"rpcExt":["8080"]})"},
        {"handle: '{\"a\":\"/b/$1\"}'\n", R"({"handle":"{\"a\":\"/b/$1\"}"})"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(json(row.yaml) == row.json);
    }
    auto tree = expand("x:\n- handle: '{\"a\":\n  \"${PORT}\"}'\n");
    REQUIRE(tree);
    const base::Value& handle = *tree->find("x")->items()[0].find("handle");
    CHECK(handle.mark().line == 2);
    CHECK(handle.find("a")->mark().line == 2);
    CHECK(json("handle: '{\"a\":\"${NOPE}\"}'\n").starts_with("weir.yaml:1:9: the environment variable NOPE"));
}

TEST_CASE("the names of variables are kept, whether they were set or not") {
    auto tree = config::parseYaml("[a, '${WEIR_A:}', '${PORT}', '$${NO}']", "weir.yaml");
    REQUIRE(tree);
    config::Variables variables(kEnvironment);
    CHECK(config::Variables::needed(*tree));
    REQUIRE(variables.expand(*tree, "weir.yaml"));
    CHECK(variables.used() == std::set<std::string>{"WEIR_A", "PORT"});
    CHECK_FALSE(config::Variables::needed(*config::parseYaml("a: [$1, '{b}']", "weir.yaml")));
}
