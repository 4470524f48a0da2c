#include "config/settings_reader.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include "config/settings_table.hpp"
#include "config/yaml.hpp"
#include "support/catch.hpp"

using namespace weir;
using namespace std::chrono_literals;
using config::Environment;
using config::Override;
using config::Settings;

namespace {

const std::string kHash(128, 'a');

struct Sources {
    std::string file = {};  // YAML of what stands under `weir:`
    std::vector<Override> overrides = {};
    Environment environment = {};
};

base::Result<Settings> readAll(const Sources& sources, std::vector<std::string>* warnings = nullptr) {
    auto tree = config::parseYaml(sources.file, "conf/weir.yaml");
    REQUIRE(tree);
    std::vector<std::string> ignored;
    return config::readSettings(*tree, "conf/weir.yaml", sources.overrides, sources.environment,
                                warnings ? *warnings : ignored);
}

Settings good(const Sources& sources) {
    auto settings = readAll(sources);
    INFO((settings ? "" : settings.error().text()));
    REQUIRE(settings);
    return *settings;
}

std::string error(const Sources& sources) {
    auto settings = readAll(sources);
    return settings ? "taken" : settings.error().text();
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("without any source the settings are the documented defaults") {
    Settings settings = good({});
    CHECK(settings.server.address == "127.0.0.1");
    CHECK(settings.server.port == 9195);
    CHECK(settings.server.threads == 0);
    CHECK(settings.server.headerTimeout == 60s);
    CHECK(settings.server.maxRequestHeaderBytes == 16384);
    CHECK(settings.management.port == 9196);
    CHECK(settings.management.token.empty());
    CHECK(settings.extPlugin.enabled);
    CHECK(settings.extPlugin.scheduleTime == 300s);
    CHECK(settings.extPlugin.probeTimeout == 10s);
    CHECK(settings.extPlugin.createTimeout == 10s);
    CHECK(settings.upstream.connectTimeout == 3s);
    CHECK(settings.upstream.replayBodyBytes == 65536);
    CHECK(settings.upstream.ejection.failures == 5);
    CHECK(settings.upstream.ejection.base == 10s);
    CHECK(settings.upstream.ejection.max == 300s);
    CHECK(settings.upstream.retryBudget.percent == 20);
    CHECK(settings.upstream.retryBudget.minConcurrent == 3);
    CHECK(settings.upstream.resolveInterval == 30s);
    CHECK_FALSE(settings.upstreamCheck.enabled);
    CHECK(settings.upstreamCheck.interval == 5s);
    CHECK(settings.upstreamCheck.timeout == 3s);
    CHECK(settings.upstreamCheck.path.text.empty());
    CHECK(settings.compat.errorStatus == config::ErrorStatus::Weir);
    CHECK(settings.compat.match == config::MatchChoice::Best);
    CHECK(settings.server.requestIdHeader.text == "X-Request-Id");
    CHECK_FALSE(settings.server.trustRequestId);
    CHECK(settings.server.traceparent == config::Traceparent::Start);
    CHECK(settings.accessLog.format == config::AccessLogFormat::Off);
    CHECK(settings.accessLog.file.empty());
}

TEST_CASE("a file sets what it names and leaves the rest") {
    Settings settings = good({R"(
server: {address: 0.0.0.0, port: "8080", threads: auto, headerTimeout: 500, keepAliveTimeout: 1m}
management: {port: 0, token: t0p}
data: {snapshot: state/data.json}
extPlugin: {path: ./ext, enabled: no, threads: 2, scheduleTime: 1, scheduleDelay: 500ms, settleMs: 80,
            probeTimeout: 2, createTimeout: 300ms}
modules:
  path: /opt/weir/plugins
upstream: {connectTimeout: 250ms, maxIdle: 0, replayBodyBytes: 0, ejection: {failures: 2, base: 1s, max: 4000},
           retryBudget: {percent: 100, minConcurrent: 0}}
compat: {errorStatus: shenyu, match: first}
log: {level: debug, file: }
accessLog: {format: json, file: ../log/access.log}
)"});
    CHECK(settings.server.address == "0.0.0.0");
    CHECK(settings.server.port == 8080);
    CHECK(settings.server.threads == 0);
    CHECK(settings.server.headerTimeout == 500ms);
    CHECK(settings.server.keepAliveTimeout == 60s);
    CHECK(settings.server.bodyTimeout == 60s);
    CHECK(settings.management.port == 0);
    CHECK(settings.management.token.reveal() == "t0p");
    CHECK(settings.extPlugin.path == "conf/ext");
    CHECK_FALSE(settings.extPlugin.enabled);
    CHECK(settings.extPlugin.threads == 2);
    CHECK(settings.extPlugin.scheduleTime == 1s);
    CHECK(settings.extPlugin.scheduleDelay == 500ms);
    CHECK(settings.extPlugin.settle == 80ms);
    CHECK(settings.extPlugin.probeTimeout == 2s);
    CHECK(settings.extPlugin.createTimeout == 300ms);
    CHECK(settings.data.snapshot == "conf/state/data.json");
    CHECK(settings.modules.path == "/opt/weir/plugins");
    CHECK(settings.upstream.connectTimeout == 250ms);
    CHECK(settings.upstream.maxIdle == 0);
    CHECK(settings.upstream.replayBodyBytes == 0);
    CHECK(settings.upstream.ejection.failures == 2);
    CHECK(settings.upstream.ejection.base == 1s);
    CHECK(settings.upstream.ejection.max == 4s);
    CHECK(settings.upstream.retryBudget.percent == 100);
    CHECK(settings.upstream.retryBudget.minConcurrent == 0);
    CHECK(settings.compat.errorStatus == config::ErrorStatus::Shenyu);
    CHECK(settings.compat.match == config::MatchChoice::First);
    CHECK(settings.log.level == config::LogLevel::Debug);
    CHECK(settings.log.file.empty());
    CHECK(settings.accessLog.format == config::AccessLogFormat::Json);
    CHECK(settings.accessLog.file == "log/access.log");
}

TEST_CASE("the header of the request id is any name that is free, or none") {
    for (const char* name : {"X-Request-Id", "x_trace", "Request~Id"}) {
        CHECK(good({std::string("server: {requestIdHeader: ") + name + "}"}).server.requestIdHeader.text == name);
    }
    for (const char* none : {"server: {requestIdHeader: }", "server: {requestIdHeader: ''}"}) {
        CHECK(good({none}).server.requestIdHeader.text.empty());
    }
    CHECK(good({"", {{"server.requestIdHeader", ""}}}).server.requestIdHeader.text.empty());
    for (const char* wrong : {"X Id", "X-Id:", "X\r\nEvil", "Ä", "Host", "content-LENGTH", "Connection", "Cookie"}) {
        INFO(wrong);
        CHECK(has(error({std::string("server: {requestIdHeader: \"") + wrong + "\"}"}),
                  "server.requestIdHeader: expected the name of a header that nothing else depends on, or nothing"));
    }
    CHECK(has(error({"server: {requestIdHeader: [X-Id]}"}), "got a list"));
}

TEST_CASE("the command line wins over the environment, the environment over the file") {
    const std::string file = "server: {port: 1}";
    const Environment environment = {{"WEIR_SERVER_PORT", "2"}};
    CHECK(good({file, {}, {}}).server.port == 1);
    CHECK(good({file, {}, environment}).server.port == 2);
    CHECK(good({file, {{"server.port", "0"}}, environment}).server.port == 0);
    CHECK(good({file, {{"server.port", "3"}, {"server.port", "4"}}, environment}).server.port == 4);
}

TEST_CASE("a variable may or may not separate the words of a name") {
    for (const char* name : {"WEIR_EXT_PLUGIN_SCHEDULE_TIME", "WEIR_EXTPLUGIN_SCHEDULETIME"}) {
        CHECK(good({"", {}, {{name, "7"}}}).extPlugin.scheduleTime == 7s);
    }
    CHECK(good({"", {}, {{"WEIR_EXT_PLUGIN_PATH", "ext"}}}).extPlugin.path == "ext");
    CHECK(good({"", {}, {{"WEIR_LOCAL_SHA512_KEY", kHash}}}).local.sha512Key.reveal() == kHash);
}

TEST_CASE("a list of paths counts from the file that names them, and one alone is a list") {
    const Settings settings = good({"extPlugin: {upload: true, staging: run, trust: {sha256: [ab, cd], keys: "
                                    "[a.pem, /etc/b.pem]}}"});
    CHECK(settings.extPlugin.upload);
    CHECK(settings.extPlugin.staging == "conf/run");
    CHECK(settings.extPlugin.trust.sha256 == config::TokenList{"ab", "cd"});
    CHECK(settings.extPlugin.trust.keys == config::PathList{"conf/a.pem", "/etc/b.pem"});
    CHECK(good({"extPlugin: {trust: {keys: 'a,b.pem'}}"}).extPlugin.trust.keys == config::PathList{"conf/a,b.pem"});
    CHECK(good({"", {{"extPlugin.trust.keys", "a.pem"}}}).extPlugin.trust.keys == config::PathList{"a.pem"});
    for (const char* none : {"extPlugin: {trust: {keys: }}", "extPlugin: {trust: {keys: []}}", "extPlugin: {}"})
        CHECK(good({none}).extPlugin.trust.keys.empty());
    for (const char* wrong : {"{a: b}", "[a, '']", "[[a]]", "[a, ~]"}) {
        INFO(wrong);
        CHECK(has(error({std::string("extPlugin: {trust: {keys: ") + wrong + "}}"}),
                  "extPlugin.trust.keys: expected paths, as a list or one alone, got "));
    }
}

TEST_CASE("no two settings share a variable") {
    std::set<std::string> variables;
    for (const config::Setting& setting : config::settingsTable()) {
        INFO(setting.path);
        CHECK(variables.insert(setting.variable()).second);
    }
}

TEST_CASE("settings that differ are named by their path") {
    const Settings before = good({});
    Settings after = before;
    CHECK(config::changedSettings(before, after).empty());
    after.server.port = 1;
    after.management.token = config::Secret("t0p");
    after.extPlugin.scheduleTime = 1s;
    after.data.watch = false;
    after.log.level = config::LogLevel::Debug;
    CHECK(config::changedSettings(before, after) ==
          std::vector<std::string_view>{"server.port", "management.token", "extPlugin.scheduleTime", "data.watch",
                                        "log.level"});
}

TEST_CASE("the hash of the local key is 128 hex digits or none, and a message does not show what it is instead") {
    const std::string expected = "local.sha512Key: expected 128 hex digits, or a map with either file or env";
    CHECK(good({"local: {sha512Key: " + kHash + "}"}).local.sha512Key.reveal() == kHash);
    CHECK(good({"local: {sha512Key: }"}).local.sha512Key.empty());
    for (const std::string& wrong : {std::string("123456"), kHash.substr(1), kHash + "0", "g" + kHash.substr(1)}) {
        INFO(wrong);
        CHECK(error({"local: {sha512Key: '" + wrong + "'}"}) == "conf/weir.yaml:1:20: " + expected);
        CHECK(error({"local: {sha512Key: {env: KEY}}", {}, {{"KEY", wrong}}}) == "conf/weir.yaml:1:20: " + expected);
        CHECK(has(error({"", {{"local.sha512Key", wrong}}}), "--local.sha512Key: expected 128 hex digits"));
    }
}

TEST_CASE("a wrong value is refused with its place and what was expected") {
    struct Row { const char* yaml; const char* error; };
    const Row rows[] = {
        {"server: {port: 65536}", "conf/weir.yaml:1:16: server.port: expected a number from 0 to 65535, got \"65536\""},
        {"server: {port: -1}", "conf/weir.yaml:1:16: server.port: expected a number from 0 to 65535, got \"-1\""},
        {"server: {port: 80.5}", "conf/weir.yaml:1:16: server.port: expected a number from 0 to 65535, got \"80.5\""},
        {"server: {port: }", "conf/weir.yaml:1:10: server.port: expected a number from 0 to 65535, got nothing"},
        {"server: {port: [1]}", "conf/weir.yaml:1:16: server.port: expected a number from 0 to 65535, got a list"},
        {"server: {threads: many}",
         "conf/weir.yaml:1:19: server.threads: expected auto or a number from 0 to 1024, got \"many\""},
        {"server: {address: ''}", "conf/weir.yaml:1:19: server.address: expected a text, got \"\""},
        {"server: {maxRequestHeaderBytes: 16385}",
         "conf/weir.yaml:1:33: server.maxRequestHeaderBytes: expected a number from 1024 to 16384, got \"16385\""},
        {"extPlugin:\n  enabled: flase\n",
         "conf/weir.yaml:2:12: extPlugin.enabled: expected true or false (or yes, no, on, off), got \"flase\"; "
         "did you mean \"false\"?"},
        {"compat: {errorStatus: shenu}",
         "conf/weir.yaml:1:23: compat.errorStatus: expected weir or shenyu, got \"shenu\"; did you mean \"shenyu\"?"},
        {"compat: {match: frist}",
         "conf/weir.yaml:1:17: compat.match: expected best or first, got \"frist\"; did you mean \"first\"?"},
        {"server.port: 1\nserver: {port: 2}\n", "conf/weir.yaml:2:10: server.port is there twice, first in line 1"},
        {"log: {level: loud}", "conf/weir.yaml:1:14: log.level: expected error, warning, info or debug, got \"loud\""},
        {"accessLog: {format: jsn}",
         "conf/weir.yaml:1:21: accessLog.format: expected combined, json or off, got \"jsn\"; did you mean \"json\"?"},
        {"server: {traceparent: sart}",
         "conf/weir.yaml:1:23: server.traceparent: expected start or pass, got \"sart\"; did you mean \"start\"?"},
        {"server: 9195", "conf/weir.yaml:1:9: server: expected a map, got \"9195\""},
        {"- server", "conf/weir.yaml:1:1: weir: expected a map, got a list"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK(error({row.yaml}) == row.error);
    }
}

TEST_CASE("libraries that modules may need are a list, or separated by commas") {
    const config::TokenList both = {"libz.so.1", "libstdc++fs.so"};
    CHECK(good({}).extPlugin.libraries.empty());
    CHECK(good({"extPlugin: {libraries: [libz.so.1, libstdc++fs.so]}"}).extPlugin.libraries == both);
    CHECK(good({"", {{"extPlugin.libraries", "libz.so.1, libstdc++fs.so"}}}).extPlugin.libraries == both);
    CHECK(good({"", {}, {{"WEIR_EXT_PLUGIN_LIBRARIES", "libz.so.1"}}}).extPlugin.libraries.size() == 1);
    CHECK(has(error({"extPlugin: {libraries: [/usr/lib/libz.so]}"}), "extPlugin.libraries: expected "));
}

TEST_CASE("a time is a number with a unit within its range") {
    struct Row { const char* text; std::chrono::milliseconds time; };
    const Row taken[] = {{"1", 1ms}, {"30000", 30s}, {"30s", 30s}, {"500ms", 500ms}, {"5m", 300s}, {"24h", 86400s}};
    for (const Row& row : taken) {
        INFO(row.text);
        CHECK(good({"", {{"server.bodyTimeout", row.text}}}).server.bodyTimeout == row.time);
    }
    for (const char* text : {"0", "-1", "", "s", "30 s", "1.5s", "30S", "1d", "25h", "9223372036854775807h"}) {
        INFO(text);
        std::string message = error({"", {{"server.bodyTimeout", text}}});
        CHECK(has(message, "--server.bodyTimeout: expected a time from 1ms to 24h such as 30s or 500ms (a plain number "
                           "is in milliseconds), got"));
    }
    CHECK(good({"", {{"server.drainTimeout", "0"}}}).server.drainTimeout == 0ms);
    CHECK(has(error({"", {{"extPlugin.scheduleTime", "0"}}}), "(a plain number is in seconds)"));
}

TEST_CASE("an unknown key is refused with the nearest one") {
    struct Row { Sources sources; const char* error; };
    const Row rows[] = {
        {{"server:\n  prot: 1\n"}, "conf/weir.yaml:2:3: server: unknown key \"prot\"; did you mean \"port\"?"},
        {{"server:\n  adress: x\n"}, "conf/weir.yaml:2:3: server: unknown key \"adress\"; did you mean \"address\"?"},
        {{"extplugin: {}\n"}, "conf/weir.yaml:1:1: weir: unknown key \"extplugin\"; did you mean \"extPlugin\"?"},
        {{"colour: {}\n"}, "conf/weir.yaml:1:1: weir: unknown key \"colour\"; expected one of server, management, "
                           "local, extPlugin, modules, data, upstream, upstreamCheck, compat, log, accessLog"},
        {{"", {{"server.prot", "1"}}}, "--server.prot: no such setting; did you mean \"server.port\"?"},
        {{"", {{"weir.server.port", "1"}}}, "--weir.server.port: no such setting; did you mean \"server.port\"?"},
        {{"", {{"server", "1"}}}, "--server: no such setting"},
    };
    for (const Row& row : rows) CHECK(error(row.sources) == row.error);
}

TEST_CASE("a variable that means no setting is a warning, one with a bad value an error") {
    std::vector<std::string> warnings;
    REQUIRE(readAll({"", {}, {{"WEIR_SERVER_PROT", "1"}, {"WEIRD", "1"}, {"HOME", "/"}, {"WEIR_X", ""}}}, &warnings));
    CHECK(warnings == std::vector<std::string>{
                          "the environment variable WEIR_SERVER_PROT means no setting; did you mean "
                          "\"WEIR_SERVER_PORT\"?",
                          "the environment variable WEIR_X means no setting"});
    CHECK(error({"", {}, {{"WEIR_SERVER_PORT", "x"}}}) ==
          "WEIR_SERVER_PORT: expected a number from 0 to 65535, got \"x\"");
}

TEST_CASE("the token is a value, a file's content or a variable's, and no message shows it") {
    auto directory = std::filesystem::temp_directory_path() / "weir-settings-test";
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "token") << "from-file\n";
    std::ofstream(directory / "empty") << "\n";
    const std::string file = (directory / "token").string();
    const std::string empty = (directory / "empty").string();

    CHECK(good({"management: {token: {file: " + file + "}}"}).management.token.reveal() == "from-file");
    CHECK(good({"", {{"management.token.file", file}}}).management.token.reveal() == "from-file");
    CHECK(good({"", {}, {{"WEIR_MANAGEMENT_TOKEN_FILE", file}}}).management.token.reveal() == "from-file");
    CHECK(good({"", {}, {{"WEIR_MANAGEMENT_TOKEN", "v"}}}).management.token.reveal() == "v");
    CHECK(good({"", {{"management.token.env", "T"}}, {{"T", "from-env"}}}).management.token.reveal() == "from-env");
    std::vector<std::string> warnings;
    auto named = readAll({"management: {token: {env: WEIR_T}}", {}, {{"WEIR_T", "x"}}}, &warnings);
    REQUIRE(named);
    CHECK(named->management.token.reveal() == "x");
    CHECK(warnings.empty());

    CHECK(has(error({"management: {token: {env: NOPE}}"}),
              "management.token: the environment variable NOPE is not set"));
    CHECK(has(error({"management: {token: {file: nope}}"}), "conf/nope: cannot be read: No such file or directory"));
    CHECK(has(error({"management: {token: {file: " + directory.string() + "}}"}), "cannot be read: Is a directory"));
    CHECK(has(error({"management: {token: {file: " + empty + "}}"}), "is empty"));
    for (const char* tree : {"[hush]", "{file: a, env: b}", "{value: hush}", "{file: [hush]}"}) {
        std::string message = error({std::string("management: {token: ") + tree + "}"});
        CHECK(has(message, "management.token: expected a text, or a map with either file or env"));
        CHECK_FALSE(has(message, "hush"));
    }
    std::filesystem::remove_all(directory);
}

TEST_CASE("an override is --name=text, the text as it is") {
    auto given = config::parseOverride("--management.token=a=b: c");
    REQUIRE(given);
    CHECK(given->path == "management.token");
    CHECK(given->text == "a=b: c");
    for (const char* text : {"server.port=0", "--server.port", "--=1", "-x=1", ""}) {
        CHECK_FALSE(config::parseOverride(text));
    }
    const char* const variables[] = {"A=1", "B=x=y", "C=", "odd", nullptr};
    CHECK(config::readEnvironment(variables) == Environment{{"A", "1"}, {"B", "x=y"}, {"C", ""}});
}

TEST_CASE("the help names every setting with its variable and default") {
    std::string help = config::describeSettings();
    CHECK(has(help, "--server.port=9195  (WEIR_SERVER_PORT)\n      Port of the gateway; 0: the system chooses. Takes a "
                    "number from 0 to 65535.\n"));
    CHECK(has(help, "--server.threads=auto"));
    CHECK(has(help, "--extPlugin.scheduleTime=5m  (WEIR_EXT_PLUGIN_SCHEDULE_TIME)"));
    CHECK(has(help, "--compat.errorStatus=weir"));
    CHECK(has(help, "--accessLog.format=off  (WEIR_ACCESS_LOG_FORMAT)\n      A line for each request, or none. Takes "
                    "combined, json or off.\n"));
}

TEST_CASE("the path of upstream checks is one that a request line can have") {
    CHECK(good({"upstreamCheck: {path: '/health?deep=1'}"}).upstreamCheck.path.text == "/health?deep=1");
    CHECK(good({"upstreamCheck: {path: }"}).upstreamCheck.path.text.empty());
    for (const char* path : {"health", "'/a b'", "/a#b", "/\u00e4", "'/a\r\n'", "[/a]"}) {
        INFO(path);
        CHECK_THAT(error({"upstreamCheck: {path: " + std::string(path) + "}"}),
                   Catch::Contains("upstreamCheck.path: expected a path that begins with / and has no blanks"));
    }
}
