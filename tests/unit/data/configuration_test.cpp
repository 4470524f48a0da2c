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
    const auto rules = loaded->data.rulesOf("divide", "divide/orders");
    REQUIRE(rules.size() == 1);
    CHECK(rules[0]->conditions.at(0).paramValue == "/http/**");
    CHECK(base::toJson(rules[0]->handle) == R"({"loadBalance":"roundRobin","retry":3,"timeout":3000})");
    CHECK(rules[0]->handle.find("retry")->mark().line == 22);
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
    auto file = directory.write("weir.yaml", "eureka:\n  a: ${NOPE}\nspring: {a: 1}\nplugins: []\n");
    auto loaded = data::loadConfiguration(file, {}, {});
    REQUIRE(loaded);
    CHECK(loaded->warnings == std::vector<std::string>{file.string() + ":1:1: \"eureka\" is not Weir's and ignored",
                                                       file.string() + ":3:1: \"spring\" is not Weir's and ignored"});
    file = directory.write("weir.yaml", "plugin: []\n");
    CHECK(error(file) == file.string() + ":1:1: unknown key \"plugin\"; did you mean \"plugins\"?");
    for (const char* dotted : {"weir.server.port: 1\n", "weir.server: {port: 1}\n"}) {
        file = directory.write("weir.yaml", dotted);
        CHECK(error(file).find(":1:1: \"weir.server") != std::string::npos);
        CHECK(error(file).find("expected \"weir:\" with the rest below it") != std::string::npos);
    }
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
    for (const auto& selector : loaded->data.selectorsOf("p")) order += selector->name + " ";
    CHECK(order == "s0 s1 s2 ");
    CHECK(loaded->data.plugin("p")->sort == 9);
    CHECK(loaded->data.metadata.size() == 1);
}

TEST_CASE("an include that cannot be right is refused") {
    struct Row { const char* main; const char* other; const char* error; };
    const Row rows[] = {
        {"include: [nope.yaml]\n", "", "include: no such file: "},
        {"include: nope.yaml\n", "", "weir.yaml:1:10: include: no such file: "},
        {"include: [weir.yaml]\n", "", "weir.yaml:1:11: include: \"weir.yaml\" leads back to "},
        {"include: ['*.yaml']\n", "", "include: \"*.yaml\" leads back to "},
        {"include: {a: b}\n", "", "weir.yaml:1:10: include: expected a list, got a map"},
        {"include: [[a]]\n", "",
         "weir.yaml:1:11: include: expected a file name or a pattern such as conf.d/*.yaml, got a list"},
        {"include: [d/other.yaml]\n", "weir: {}\n",
         "other.yaml:1:1: \"weir\" is taken in the main file only; expected here: plugins, metadata, appAuth, "
         "include"},
        {"include: [d/other.yaml]\n", "include: [x]\n", "other.yaml:1:11: include: no such file: "},
        {"include: ['${NOPE}']\n", "", "weir.yaml:1:11: the environment variable NOPE is not set"},
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

TEST_CASE("included files include others, each once and in the order they are named") {
    Directory directory;
    const auto selector = [](const std::string& include, const std::string& name) {
        return "include: [" + include + "]\nplugins: [{name: p, selectors: [{name: " + name + "}]}]\n";
    };
    auto file = directory.write("weir.yaml", selector("conf.d/*.yaml, last.yaml", "main"));
    directory.write("conf.d/b.yaml", selector("'../shared/*.yaml'", "b"));
    directory.write("conf.d/a.yaml", selector("more/x.yaml, ../shared/one.yaml", "a"));
    directory.write("conf.d/more/x.yaml", selector("", "x"));
    directory.write("shared/one.yaml", selector("", "one"));
    directory.write("shared/two.yaml", selector("../conf.d/more/x.yaml", "two"));
    directory.write("last.yaml", selector("", "last"));
    data::SourceFiles read;
    auto loaded = data::loadConfiguration(file, {}, {}, &read);
    INFO((loaded ? "" : loaded.error().text()));
    REQUIRE(loaded);
    std::string order;
    for (const auto& each : loaded->data.selectorsOf("p")) order += each->name + " ";
    CHECK(order == "main a x one b two last ");
    CHECK(read.files.size() == 7);
    const data::SourceFiles::Keys before = read.keysNow();
    directory.write("shared/three.yaml", "plugins: []\n");  // of a pattern in an included file
    CHECK(read.keysNow() != before);
    bool watched = false;
    for (const fs::path& each : read.directories()) watched |= each.lexically_normal() == directory.in("shared");
    CHECK(watched);
}

TEST_CASE("files that include each other in a circle are refused with the chain") {
    Directory directory;
    auto file = directory.write("weir.yaml", "include: [d/a.yaml]\n");
    const std::string a = directory.in("d/a.yaml");
    const std::string b = directory.in("d/b.yaml");
    directory.write("d/a.yaml", "include:\n- b.yaml\n");
    directory.write("d/b.yaml", "include: a.yaml\n");
    CHECK(error(file) == b + ":1:10: include: \"a.yaml\" leads back to " + a + " -> " + b + " -> " + a);
    directory.write("d/b.yaml", "include: ../*.yaml\n");
    CHECK(error(file) == b + ":1:10: include: \"../*.yaml\" leads back to " + file.string() + " -> " + a + " -> " + b +
                             " -> " + directory.in("d/../weir.yaml"));
}

TEST_CASE("variables stand in settings, data and includes of every file, and the environment goes before") {
    Directory directory;
    auto file = directory.write("weir.yaml", "weir:\n  server:\n    port: ${PORT:9195}\n  management:\n"
                                             "    token: ${WEIR_T:}\ninclude: ['${DIR}/*.yaml']\n");
    directory.write("conf.d/a.yaml", "plugins:\n  - name: p\n    selectors:\n      - name: s\n"
                                     "        sort: ${SORT}\n        enabled: ${ON}\n"
                                     "        handle: '[{\"upstreamUrl\":\"${HOST}:80\"}]'\n"
                                     "appAuth:\n  - appKey: k\n    appSecret: ${WEIR_S}\n");
    config::Environment environment = {{"DIR", "conf.d"}, {"SORT", "7"}, {"ON", "no"}, {"HOST", "a\"b"},
                                       {"WEIR_T", "t0p"}, {"WEIR_S", "x: y"}};
    auto loaded = data::loadConfiguration(file, {}, environment);
    INFO((loaded ? "" : loaded.error().text()));
    REQUIRE(loaded);
    CHECK(loaded->warnings.empty());
    CHECK(loaded->settings.server.port == 9195);
    CHECK(loaded->settings.management.token.reveal() == "t0p");
    const auto selectors = loaded->data.selectorsOf("p");
    REQUIRE(selectors.size() == 1);
    CHECK(selectors[0]->sort == 7);
    CHECK_FALSE(selectors[0]->enabled);
    CHECK(base::toJson(selectors[0]->handle) == R"([{"upstreamUrl":"a\"b:80"}])");
    CHECK(loaded->data.appAuth[0]->appSecret.reveal() == "x: y");
    environment["PORT"] = "8";
    CHECK(data::loadConfiguration(file, {}, environment)->settings.server.port == 8);
    environment["WEIR_SERVER_PORT"] = "9";
    CHECK(data::loadConfiguration(file, {}, environment)->settings.server.port == 9);
    CHECK(data::loadConfiguration(file, {{"server.port", "0"}}, environment)->settings.server.port == 0);
    environment.erase("SORT");
    CHECK(data::loadConfiguration(file, {}, environment).error().text().starts_with(
        directory.in("conf.d/a.yaml") + ":5:15: the environment variable SORT is not set"));
}

TEST_CASE("ShenYu's settings count in the main file only") {
    Directory directory;
    auto file = directory.write("weir.yaml", "server: {port: 7}\nshenyu: {local: {enabled: no}}\ninclude: a.inc\n");
    const auto included = directory.write("a.inc", "shenyu: {extPlugin: {threads: 4}}\nspring: {}\n");
    auto loaded = data::loadConfiguration(file, {}, {});
    REQUIRE(loaded);
    CHECK(loaded->settings.server.port == 7);
    CHECK(loaded->settings.extPlugin.threads == 1);
    CHECK(loaded->warnings ==
          std::vector<std::string>{
              included.string() + ":1:1: \"shenyu\" is taken in the main file only and ignored here",
              included.string() + ":2:1: \"spring\" is not Weir's and ignored"});
}
