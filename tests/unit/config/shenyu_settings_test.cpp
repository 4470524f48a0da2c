#include "config/shenyu_settings.hpp"

#include "config/settings_reader.hpp"
#include "config/yaml.hpp"
#include "support/catch.hpp"

using namespace weir;
using namespace std::chrono_literals;

namespace {

struct Read {
    base::Result<config::Settings> settings;
    std::vector<std::string> warnings;

    std::string error() const { return settings ? "taken" : settings.error().text(); }
};

// The file's whole text as the main file's.
Read read(std::string_view yaml, const config::Environment& environment = {},
          const std::vector<config::Override>& overrides = {}) {
    auto root = config::parseYaml(yaml, "c/weir.yaml");
    REQUIRE(root);
    std::vector<std::string> warnings;
    config::Variables variables(environment);
    auto shenyu = config::readShenyuSettings(*root, "c/weir.yaml", variables, warnings);
    if (!shenyu) return {shenyu.error(), warnings};
    const base::Value* weir = root->find("weir");
    auto settings = config::readSettings(weir ? *weir : base::Value(), "c/weir.yaml", overrides, environment, warnings,
                                         *shenyu, variables.used());
    return {std::move(settings), warnings};
}

using Warnings = std::vector<std::string>;

const std::string kHash(128, 'A');

}  // namespace

TEST_CASE("ShenYu's keys that mean the same here are settings, in each of Spring's spellings") {
    for (const char* yaml : {R"(
server: {port: 1, address: 0.0.0.0}
shenyu:
  extPlugin: {path: ext, enabled: false, threads: 2, scheduleTime: 7, scheduleDelay: 8}
  switchConfig: {collapseSlashes: true}
  netty: {http: {httpDecoder: {maxHeaderSize: 4096}}}
  httpclient: {connectTimeout: 900, pool: {maxIdleTime: 20s}}
  upstreamCheck: {enabled: true, poolSize: 3, timeout: 300, healthyThreshold: 2, unhealthyThreshold: 4, interval: 600,
                  printEnabled: true, printInterval: 700}
)",
                             R"(
server.port: 1
server.address: 0.0.0.0
shenyu.ext-plugin.path: ext
shenyu:
  ext-plugin: {enabled: false, threads: 2, schedule-time: 7, schedule_delay: 8}
  switch-config: {collapse-slashes: yes}
  netty.http.http-decoder.max-header-size: 4096
  httpclient.connect-timeout: 900
  HTTPCLIENT.pool: {max-idle-time: 20s}
  upstream-check: {enabled: yes, poolSize: 3, timeout: 300, healthy-threshold: 2, unhealthyThreshold: 4, interval: 600,
                   printEnabled: yes, print-interval: 700}
)"}) {
        INFO(yaml);
        const Read got = read(yaml);
        INFO(got.error());
        REQUIRE(got.settings);
        CHECK(got.warnings.empty());
        CHECK(got.settings->server.port == 1);
        CHECK(got.settings->server.address == "0.0.0.0");
        CHECK(got.settings->extPlugin.path == "c/ext");
        CHECK_FALSE(got.settings->extPlugin.enabled);
        CHECK(got.settings->extPlugin.threads == 2);
        CHECK(got.settings->extPlugin.scheduleTime == 7s);
        CHECK(got.settings->extPlugin.scheduleDelay == 8s);
        CHECK(got.settings->server.doubleSlashes == config::DoubleSlashes::Merge);
        CHECK(got.settings->server.maxRequestHeaderBytes == 4096);
        CHECK(got.settings->upstream.connectTimeout == 900ms);
        CHECK(got.settings->upstream.keepAliveTimeout == 20s);
        CHECK(got.settings->upstreamCheck.enabled);
        CHECK(got.settings->upstreamCheck.poolSize == 3);
        CHECK(got.settings->upstreamCheck.timeout == 300ms);
        CHECK(got.settings->upstreamCheck.healthyThreshold == 2);
        CHECK(got.settings->upstreamCheck.unhealthyThreshold == 4);
        CHECK(got.settings->upstreamCheck.interval == 600ms);
        CHECK(got.settings->upstreamCheck.printEnabled);
        CHECK(got.settings->upstreamCheck.printInterval == 700ms);
    }
    const Read kept = read("shenyu: {switchConfig: {collapseSlashes: false}}");
    CHECK(kept.settings->server.doubleSlashes == config::DoubleSlashes::Keep);
}

TEST_CASE("the local key opens /shenyu/** only where ShenYu would") {
    struct Row { const char* enabled; bool open; };
    for (const Row& row : {Row{"", false}, Row{"enabled: true, ", true}, Row{"enabled: , ", false},
                           Row{"enabled: false, ", false}, Row{"enabled: off, ", false}}) {
        INFO(row.enabled);
        const Read got = read(std::string("shenyu: {local: {") + row.enabled + "sha512Key: " + kHash + "}}");
        REQUIRE(got.settings);
        CHECK(got.settings->local.sha512Key.empty() != row.open);
        CHECK(got.warnings.empty());
    }
    CHECK(read("shenyu: {local: {enabled: flase, sha512Key: " + kHash + "}}").error() ==
          "c/weir.yaml:1:27: shenyu.local.enabled: expected true or false (or yes, no, on, off), got \"flase\"; did you "
          "mean \"false\"?");
    const Read wrong = read("shenyu: {local: {enabled: true, sha512Key: '${K}'}}", {{"K", "hush"}});
    CHECK(wrong.error() == "c/weir.yaml:1:44: local.sha512Key: expected 128 hex digits, or a map with either file or env");
}

TEST_CASE("Weir's own key goes before ShenYu's, with a warning where they differ") {
    const Read got = read("shenyu:\n  extPlugin: {threads: 2, scheduleTime: 300, scheduleDelay: 9}\n"
                          "weir:\n  extPlugin: {threads: 3, scheduleTime: 5m}\n");
    REQUIRE(got.settings);
    CHECK(got.settings->extPlugin.threads == 3);
    CHECK(got.settings->extPlugin.scheduleDelay == 9s);
    CHECK(got.warnings == Warnings{"c/weir.yaml:2:15: weir.extPlugin.threads says otherwise and goes before this"});
    CHECK(read("server: {port: 1}", {{"WEIR_SERVER_PORT", "2"}}).settings->server.port == 2);
    CHECK(read("server: {port: 1}", {{"WEIR_SERVER_PORT", "2"}}, {{"server.port", "3"}}).settings->server.port == 3);
}

TEST_CASE("what Weir does not have is named once, with what it lacks; values that say nothing are not") {
    const Read got = read(R"(
server: {compression: {enabled: true}, ssl: {enabled: false}}
shenyu:
  namespace: other
  sync: {websocket: {urls: "ws://u:secret@h", token: "${NOPE}"}, http: {url: x}}
  cross: {enabled: true, allowedHeaders: }
  httpclient: {strategy: netty, responseTimeout: 3000}
  netty: {http: {workerCount: 8, sni: {enabled: false}}}
  colour: red
  local: {colour: blue}
  register:
  metrics: {}
)");
    INFO(got.error());
    REQUIRE(got.settings);
    CHECK(got.warnings ==
          Warnings{
              "c/weir.yaml:2:10: server: only address and port are taken from here; Weir's own settings stand under weir",
              "c/weir.yaml:4:3: shenyu.namespace: Weir has the default namespace only",
              "c/weir.yaml:5:10: shenyu.sync.websocket: Weir has no data sync yet",
              "c/weir.yaml:5:66: shenyu.sync.http: Weir has no data sync yet",
              "c/weir.yaml:6:3: shenyu.cross: its keys go into the config of plugin 'cross'",
              "c/weir.yaml:7:16: shenyu.httpclient: only connectTimeout and pool.maxIdleTime are taken; weir.upstream "
              "has Weir's own, and a call's timeout stands in the handle of its rule",
              "c/weir.yaml:8:18: shenyu.netty: only http.httpDecoder.maxHeaderSize is taken; weir.server has Weir's own",
              "c/weir.yaml:8:34: shenyu.netty.http.sni: Weir has no https yet",
              "c/weir.yaml:9:3: shenyu.colour: Weir does not know this key",
              "c/weir.yaml:10:11: shenyu.local.colour: Weir does not know this key",
              "c/weir.yaml:12:3: shenyu.metrics: Weir's metrics are at /actuator/prometheus on its management port"});
    CHECK(read("shenyu: {namespace: 649330b6-c2d7-4edc-be8e-8a54df9eb385}").warnings.empty());
    CHECK(read("shenyu:\nserver:\n").warnings.empty());
    CHECK(read("shenyu: 5").warnings == Warnings{"c/weir.yaml:1:1: shenyu: Weir does not know this key"});
    CHECK(config::isShenyuRoot("shenyu.local"));
    CHECK_FALSE(config::isShenyuRoot("shenyus"));
}

TEST_CASE("a value that is taken may hold variables, and a wrong one or a second spelling is refused") {
    CHECK(read("server: {port: '${PORT:7}'}").settings->server.port == 7);
    CHECK(read("server: {port: '${PORT:7}'}", {{"PORT", "8"}}).settings->server.port == 8);
    CHECK(read("server: {port: '${PORT}'}").error().starts_with("c/weir.yaml:1:16: the environment variable PORT is"));
    CHECK(read("server: {port: many}").error() ==
          "c/weir.yaml:1:16: server.port: expected a number from 0 to 65535, got \"many\"");
    CHECK(read("shenyu: {extPlugin: {threads: 1}, ext-plugin: {threads: 2}}").error() ==
          "c/weir.yaml:1:48: shenyu.extPlugin.threads is there twice, in two spellings, first in line 1");
    CHECK(read("shenyu: {switchConfig: {collapseSlashes: maybe}}").error().starts_with(
        "c/weir.yaml:1:42: shenyu.switchConfig.collapseSlashes: expected true or false"));
}

TEST_CASE("a variable of the file whose name begins with WEIR_ is no unknown setting") {
    CHECK(read("server: {port: '${WEIR_P}'}", {{"WEIR_P", "8"}}).warnings.empty());
}
