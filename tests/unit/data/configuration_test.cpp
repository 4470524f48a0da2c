#include "data/configuration.hpp"

#include <unistd.h>

#include <fstream>

#include "support/catch.hpp"

using namespace weir;
namespace fs = std::filesystem;

namespace {

// A directory of the test's own, gone with it.
class Directory {
public:
    Directory() {
        std::string pattern = (fs::temp_directory_path() / "weir-[config]-XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()));
        path_ = pattern;
    }
    ~Directory() { fs::remove_all(path_); }

    fs::path write(const std::string& name, const std::string& text) const {
        fs::path file = path_ / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }
    std::string in(const std::string& name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

std::string error(const fs::path& file) {
    auto configuration = data::loadConfiguration(file, {}, {});
    return configuration ? "taken" : configuration.error().text();
}

const char* const kExample = R"(weir:
  server: {address: 127.0.0.1, port: 9195, threads: 1}
  management: {port: 9196}
  extPlugin: {path: ./ext, enabled: true, threads: 1, scheduleTime: 300, scheduleDelay: 30}
plugins:
  - name: contextPath
    selectors:
      - name: orders
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules:
          - name: strip
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
            handle: {contextPath: /http}
  - name: divide
    selectors:
      - name: orders
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        handle: [{upstreamUrl: "127.0.0.1:8189", weight: 50}]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
            handle: {loadBalance: roundRobin, retry: 3, timeout: 3000}
)";

}  // namespace

TEST_CASE("the example file loads, with overrides over the environment over the file") {
    Directory directory;
    auto file = directory.write("weir.yaml", kExample);
    auto loaded = data::loadConfiguration(file, {{"server.port", "0"}},
                                          {{"WEIR_SERVER_PORT", "7"}, {"WEIR_MANAGEMENT_PORT", "8"}});
    INFO((loaded ? "" : loaded.error().text()));
    REQUIRE(loaded);
    CHECK(loaded->settings.server.port == 0);
    CHECK(loaded->settings.server.threads == 1);
    CHECK(loaded->settings.management.port == 8);
    CHECK(loaded->settings.extPlugin.path == directory.in("ext"));
    CHECK(loaded->warnings.empty());
    CHECK(loaded->data.plugins.size() == 2);
    auto rules = loaded->data.rulesOf("divide", "divide/orders");
    REQUIRE(rules.size() == 1);
    CHECK(rules[0].conditions.at(0).paramValue == "/http/**");
    CHECK(base::toJson(rules[0].handle) == R"({"loadBalance":"roundRobin","retry":3,"timeout":3000})");
    CHECK(rules[0].handle.find("retry")->mark().line == 22);
}

TEST_CASE("an empty file means the defaults and no data") {
    Directory directory;
    for (const char* text : {"", "# nothing yet\n", "weir:\nplugins:\n"}) {
        auto loaded = data::loadConfiguration(directory.write("weir.yaml", text), {}, {});
        REQUIRE(loaded);
        CHECK(loaded->settings.server.port == 9195);
        CHECK(loaded->data.plugins.empty());
    }
}

TEST_CASE("roots of other programs are warned about, near misses refused") {
    Directory directory;
    auto file = directory.write("weir.yaml", "shenyu:\n  sync: {}\nspring: {a: 1}\nplugins: []\n");
    auto loaded = data::loadConfiguration(file, {}, {});
    REQUIRE(loaded);
    CHECK(loaded->warnings == std::vector<std::string>{file.string() + ":1:1: \"shenyu\" is not Weir's and ignored",
                                                       file.string() + ":3:1: \"spring\" is not Weir's and ignored"});
    file = directory.write("weir.yaml", "plugin: []\n");
    CHECK(error(file) == file.string() + ":1:1: unknown key \"plugin\"; did you mean \"plugins\"?");
    file = directory.write("weir.yaml", "- a\n");
    CHECK(error(file) == file.string() +
                             ":1:1: expected a map with weir, plugins, metadata, appAuth, include, got a list");
}

TEST_CASE("included files are found beside the file and read in the order of their names") {
    Directory directory;
    auto file = directory.write("weir.yaml", "include: [conf.d/*.yaml, extra.yaml, conf.d/b.yaml, none/*.yaml]\n"
                                             "plugins: [{name: p, selectors: [{name: s0}]}]\n");
    directory.write("conf.d/b.yaml", "plugins: [{name: p, selectors: [{name: s2}]}]\n");
    directory.write("conf.d/a.yaml", "plugins: [{name: p, sort: 9, selectors: [{name: s1}]}]\n");
    directory.write("extra.yaml", "metadata: [{path: /a}]\nappAuth: [{appKey: k}]\n");
    auto loaded = data::loadConfiguration(file, {}, {});
    INFO((loaded ? "" : loaded.error().text()));
    REQUIRE(loaded);
    std::string order;
    for (const auto& selector : loaded->data.selectorsOf("p")) order += selector.name + " ";
    CHECK(order == "s0 s1 s2 ");
    CHECK(loaded->data.plugin("p")->sort == 9);
    CHECK(loaded->data.metadata.size() == 1);
}

TEST_CASE("an include that cannot be right is refused") {
    struct Row { const char* main; const char* other; const char* error; };
    const Row rows[] = {
        {"include: [nope.yaml]\n", "", "include: no such file: "},
        {"include: nope.yaml\n", "", "weir.yaml:1:10: include: no such file: "},
        {"include: [weir.yaml]\n", "", "weir.yaml:1:11: include: \"weir.yaml\" includes this file itself"},
        {"include: ['*.yaml']\n", "", "include: \"*.yaml\" includes this file itself"},
        {"include: {a: b}\n", "", "weir.yaml:1:10: include: expected a list, got a map"},
        {"include: [[a]]\n", "",
         "weir.yaml:1:11: include: expected a file name or a pattern such as conf.d/*.yaml, got a list"},
        {"include: [d/other.yaml]\n", "weir: {}\n",
         "other.yaml:1:1: \"weir\" is taken in the main file only; expected here: plugins, metadata, appAuth"},
        {"include: [d/other.yaml]\n", "include: [x]\n", "other.yaml:1:1: \"include\" is taken in the main file only"},
        {"include: [d/other.yaml]\n", "plugins:\n  - nam: p\n",
         "other.yaml:2:5: plugin: unknown key \"nam\"; did you mean \"name\"?"},
        {"include: [d/other.yaml]\n", "a: 1\na: 2\n", "other.yaml:2:1: the key \"a\" is there twice"},
        {"include: [d]\n", "", "/d: cannot be read: Is a directory"},
    };
    for (const Row& row : rows) {
        Directory directory;
        auto file = directory.write("weir.yaml", row.main);
        directory.write("d/other.yaml", row.other);
        INFO(error(file));
        CHECK(error(file).find(row.error) != std::string::npos);
    }
}

TEST_CASE("a file that cannot be read says why") {
    Directory directory;
    const std::string missing = directory.in("nope.yaml");
    CHECK(error(missing) == missing + ": cannot be read: No such file or directory");
    CHECK(error(directory.in("")).find("cannot be read: Is a directory") != std::string::npos);
}
