// Verbs, help, and what a wrong configuration leads to.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/temp_directory.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

constexpr int kBadConfiguration = 78;  // EX_CONFIG

// The first line that has all these words, split into its words; empty when there is none.
std::vector<std::string> lineWith(const std::string& text, const std::vector<std::string>& wanted) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream split(line);
        std::vector<std::string> words{std::istream_iterator<std::string>(split), {}};
        auto has = [&](const auto& word) { return std::find(words.begin(), words.end(), word) != words.end(); };
        if (std::all_of(wanted.begin(), wanted.end(), has)) return words;
    }
    return {};
}

// 1.2.3 and the like.
bool isVersion(const std::string& word) {
    return std::count(word.begin(), word.end(), '.') == 2 && word.find_first_not_of("0123456789.") == std::string::npos;
}

bool hasVersion(const std::vector<std::string>& words) { return std::any_of(words.begin(), words.end(), isVersion); }

// "weir.yaml:LINE:COLUMN"
bool namesPlace(const std::string& output, int line) {
    auto place = "weir.yaml:" + std::to_string(line) + ":";
    auto at = output.find(place);
    return at != std::string::npos && std::isdigit(static_cast<unsigned char>(output[at + place.size()]));
}

}  // namespace

TEST_CASE("each verb explains itself with --help") {
    const std::vector<std::vector<std::string>> verbs = {
        {}, {"run"}, {"check"}, {"plugin"}, {"plugin", "list"}, {"plugin", "describe"}, {"version"},
    };
    for (auto arguments : verbs) {
        arguments.push_back("--help");
        INFO(arguments.front());
        auto finished = runToEnd(WEIR_BINARY, arguments);
        CHECK(finished.exitCode == 0);
        CHECK_THAT(finished.output, Catch::Contains("usage", Catch::CaseSensitive::No));
    }
}

TEST_CASE("an unknown verb or option is refused with a hint") {
    for (const auto& arguments : std::vector<std::vector<std::string>>{{"rum"}, {"run", "--no-such-option"}}) {
        auto finished = runToEnd(WEIR_BINARY, arguments);
        CHECK(finished.exitCode != 0);
        CHECK_THAT(finished.output, Catch::Contains(arguments.back()));
    }
}

TEST_CASE("plugin describe prints what a module's data may say") {
    const auto rewrite = runToEnd(WEIR_BINARY, {"plugin", "describe", WEIR_TEST_PLUGINS "/rewrite.so"});
    CHECK(rewrite.exitCode == 0);
    CHECK_THAT(rewrite.output, Catch::StartsWith("Plugin `rewrite`, order 90, for all RPC types, with selectors and rules\n"));
    CHECK_THAT(rewrite.output, Catch::Contains("| `percentage` | integer, 0 to 100 | `100` | "));
    const auto none = runToEnd(WEIR_BINARY, {"plugin", "describe", WEIR_BINARY});
    CHECK(none.exitCode == 65);
    CHECK_THAT(none.output, Catch::Contains("manifest"));
}

TEST_CASE("version prints the version") {
    auto finished = runToEnd(WEIR_BINARY, {"version"});
    CHECK(finished.exitCode == 0);
    CHECK(hasVersion(lineWith(finished.output, {"weir"})));
}

TEST_CASE("check accepts the good file") {
    TempDirectory directory;
    auto finished = runToEnd(WEIR_BINARY, {"check", "-c", directory.write("weir.yaml", proxyTo("127.0.0.1:8189"))});
    INFO(finished.output);
    CHECK(finished.exitCode == 0);
}

TEST_CASE("a bad file ends run and check with exit code 78, its line and column, and what was expected") {
    struct Row {
        const char* name;
        std::string yaml;
        int line;
        const char* says;
    };
    const std::string good = proxyTo("127.0.0.1:8189");
    auto replaced = [&](const std::string& what, const std::string& with) {
        auto text = good;
        text.replace(text.find(what), what.size(), with);
        return text;
    };
    const Row rows[] = {
        {"no YAML", "weir: [\n", 2, ""},
        {"a key twice", "weir:\n  server: {port: 0}\n  server: {port: 1}\n", 3, "server"},
        {"an unknown setting, with the nearest", "weir:\n  server: {prot: 9195}\n", 2, "port"},
        {"a word for a number", "weir:\n  server: {port: many}\n", 2, "port"},
        {"a number out of range", "weir:\n  server: {port: 70000}\n", 2, "65535"},
        {"an unknown root key, with the nearest", "wier:\n  server: {port: 1}\n", 1, "weir"},
        {"an unknown key in a selector, with the nearest", replaced("conditions:", "condition:"), 8, "conditions"},
        {"a rule handle of the wrong type", replaced("timeout: 5000", "timeout: soon"), 21, "timeout"},
        {"an upstream of the wrong type", replaced("weight: 50", "weight: heavy"), 17, "weight"},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        TempDirectory directory;
        auto file = directory.write("weir.yaml", row.yaml);
        for (auto verb : {"check", "run"}) {
            auto finished = runToEnd(WEIR_BINARY, {verb, "-c", file});
            INFO(verb << ": " << finished.output);
            CHECK(finished.exitCode == kBadConfiguration);
            CHECK(namesPlace(finished.output, row.line));
            CHECK_THAT(finished.output, Catch::Contains(row.says));
        }
    }
}

TEST_CASE("a missing file is named, exit code 78") {
    for (auto verb : {"check", "run"}) {
        auto finished = runToEnd(WEIR_BINARY, {verb, "-c", "/nonexistent/weir.yaml"});
        CHECK(finished.exitCode == kBadConfiguration);
        CHECK_THAT(finished.output, Catch::Contains("/nonexistent/weir.yaml"));
    }
}

TEST_CASE("plugin list shows interface, key, order, module, version and state of the core modules") {
    TempDirectory directory;
    auto file = directory.write("weir.yaml", proxyTo("127.0.0.1:8189"));
    auto finished = runToEnd(WEIR_BINARY, {"plugin", "list", "-c", file});
    INFO(finished.output);
    REQUIRE(finished.exitCode == 0);
    struct Row {
        std::vector<std::string> words;  // interface, key, order as in ShenYu
        const char* module;
    };
    const Row rows[] = {
        {{"Plugin", "global", "-1"}, "global"},
        {{"Plugin", "contextPath", "80"}, "contextPath"},
        {{"Plugin", "divide", "200"}, "divide"},
        {{"Plugin", "httpClient", "210"}, "httpClient"},
        {{"Plugin", "response", "420"}, "response"},
        {{"LoadBalancer", "random"}, "load-balancer"},
        {{"LoadBalancer", "roundRobin"}, "load-balancer"},
        {{"LoadBalancer", "hash"}, "load-balancer"},
    };
    for (const auto& row : rows) {
        INFO(row.words[1]);
        auto words = lineWith(finished.output, row.words);
        REQUIRE(words.size() >= 6);
        CHECK(hasVersion(words));
        auto isModule = [&](const std::string& word) { return word.rfind(row.module, 0) == 0; };  // .so or not
        CHECK(std::any_of(words.begin() + 2, words.end(), isModule));
    }
}
