// Configuration files as people really write them, through the binary: what `weir check` says, what a gateway has.
#include <fstream>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/temp_directory.hpp"

using namespace std::string_literals;
using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

constexpr int kBadConfiguration = 78;  // EX_CONFIG

Finished check(const std::string& yaml, const std::vector<std::string>& environment = {}) {
    const TempDirectory directory;
    return runToEnd(WEIR_BINARY, {"check", "-c", directory.write("weir.yaml", yaml)}, environment);
}

// What is wrong with it: the output behind the file's directory; "good" when nothing is.
std::string fault(const std::string& yaml, const std::vector<std::string>& environment = {}) {
    const Finished finished = check(yaml, environment);
    if (finished.exitCode == 0) return "good";
    CHECK(finished.exitCode == kBadConfiguration);
    const auto at = finished.output.find("weir.yaml:");
    return at == std::string::npos ? finished.output : finished.output.substr(at);
}

// Selectors of a plugin that nobody provides, so that nothing else reads them.
std::string selector(const std::string& fields) { return "plugins:\n- name: p\n  selectors:\n  - " + fields + "\n"; }

// The selectors of a gateway with that file, as JSON.
std::string selectorsOf(const std::string& yaml, const std::vector<std::string>& environment = {}) {
    const GatewayProcess gateway(yaml, {}, environment);
    return get(gateway.managementPort(), "/actuator/selectorData").body;
}

std::string divideTo(const std::string& upstream) {
    return "plugins:\n- name: divide\n  selectors:\n  - {name: s, handle: [" + upstream + "]}\n";
}

const std::string kHostile = "a$b#c: d\"e'f\\g%h{i}";

// The keys that a ShenYu gateway's own file has, with values near those it ships with.
constexpr const char* kShenyu = R"(
server:
  port: 9195
  address: 127.0.0.1
  compression: {enabled: true, minResponseSize: 1MB}
spring:
  main: {allow-bean-definition-overriding: true}
  application: {name: gateway}
  codec: {max-in-memory-size: 2MB}
eureka:
  instance: {instance-id: "${spring.application.name}:${server.port}"}
management:
  endpoints: {web: {exposure: {include: [health, info]}}}
logging:
  level: {root: info}
shenyu:
  namespace: 649330b6-c2d7-4edc-be8e-8a54df9eb385
  selectorMatchCache: {cache: {enabled: false, initialCapacity: 10000, maximumSize: 10000}}
  ruleMatchCache: {cache: {enabled: false, initialCapacity: 10000, maximumSize: 65536}}
  netty:
    http:
      webServerFactoryEnabled: true
      workerCount: 8
      serverSocketChannel: {soBacklog: 128}
      sni: {enabled: false, mod: k8s}
      httpDecoder: {maxInitialLineLength: 4096, maxHeaderSize: 8192, maxChunkSize: 8192}
  register:
    enabled: false
    registerType: zookeeper
    props:
  cross: {enabled: true, allowedHeaders: , allowedMethods: "*", allowedAnyOrigin: true, maxAge: "18000"}
  switchConfig: {local: true, collapseSlashes: false}
  file:
    enabled: true
    maxSize : 10
  sync:
    websocket:
      urls: ws://localhost:9095/websocket
      token: ${WEIR_TEST_NOT_SET:}
  heartbeat: {enabled: true, serverLists: "http://localhost:9095"}
  exclude: {enabled: false, paths: [/favicon.ico]}
  fallback: {enabled: false, paths: [/fallback/hystrix]}
  health: {enabled: true, paths: [/actuator, /health_check]}
  alert: {enabled: false, admins: "localhost:9095"}
  ext-plugin:
    path:
    enabled: false
    threads: 1
    schedule-time: 300
    schedule-delay: 30
  scheduler: {enabled: false, type: fixed, threads: 16}
  upstreamCheck: {enabled: false, timeout: 3000, interval: 5000}
  ribbon: {serverListRefreshInterval: 10000}
  metrics: {enabled: false, name: prometheus, port: 8090}
  local:
    enabled: false
    sha512Key: "BA3253876AED6BC22D4A6FF53D8406C6AD864195ED144AB5C87621B6C233B548BAEAE6956DF346EC8C17F5EA10F35EE3CBC514797ED7DDD3145464E2A0BAB413"
)";

}  // namespace

TEST_CASE("a key twice is refused with both places, also when it is merged (H01)") {
    struct Row { const char* yaml; const char* says; };
    const Row rows[] = {
        {"shenyu:\n  local: {enabled: false}\nshenyu:\n  extPlugin: {enabled: false}\n",
         "weir.yaml:3:1: the key \"shenyu\" is there twice in one map, first at line 1, column 1"},
        {"weir:\n  server:\n    port: 1\n    port: 2\n", "weir.yaml:4:5: the key \"port\" is there twice"},
        {"weir:\n  server.port: 1\n  server: {port: 2}\n", "weir.yaml:3:12: server.port is there twice, first in line 2"},
        {"shenyu:\n  extPlugin: {threads: 1}\n  ext-plugin: {threads: 2}\n",
         "weir.yaml:3:16: shenyu.extPlugin.threads is there twice, in two spellings, first in line 2"},
        {"x-a: &a {port: 1}\nx-b: &b {port: 2}\nweir:\n  server:\n    <<: [*a, *b]\n",
         "weir.yaml:2:10: the key \"port\" is merged twice into one map, also from line 1, column 10"},
        {"x-a: &a {port: 1}\nweir:\n  server:\n    <<: *a\n    <<: *a\n", "weir.yaml:5:5: the key \"<<\" is there twice"},
        {"plugins: []\nplugins: []\n", "weir.yaml:2:1: the key \"plugins\" is there twice"},
        {"plugins:\n- name: p\n- name: p\n", "weir.yaml:3:3: the plugin \"p\" is there twice, first at"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        CHECK_THAT(fault(row.yaml), Catch::StartsWith(row.says));
    }
    CHECK(fault("x-a: &a {port: 1, threads: 1}\nweir:\n  server: {<<: *a, port: 2}\n") == "good");
}

TEST_CASE("a tab that indents is refused by name and place, a tab in a value is kept (H02)") {
    CHECK_THAT(fault("weir:\n  server:\n\tport: 9195\n"), Contains("weir.yaml:3:1: a tab indents"));
    CHECK_THAT(fault("weir:\n  server:\n  \tport: 9195\n"), Contains("weir.yaml:3:3: a tab indents"));
    CHECK_THAT(selectorsOf(selector("name: a\tb")), Contains(R"("name":"a\tb")"));
}

TEST_CASE("one set of words is a boolean, and a text field keeps them as text (H03)") {
    for (const char* word : {"true", "false", "yes", "no", "on", "off", "False", "NO", "\"false\"", "'on'"}) {
        INFO(word);
        CHECK(fault("weir:\n  extPlugin:\n    enabled: "s + word + "\n") == "good");
        CHECK(fault("shenyu:\n  extPlugin:\n    enabled: "s + word + "\n") == "good");
        CHECK(fault(selector("{name: s, enabled: "s + word + "}")) == "good");
    }
    for (const char* word : {"flase", "0", "1", "n", "", "~", "null", "[true]"}) {
        INFO(word);
        CHECK_THAT(fault("weir:\n  extPlugin:\n    enabled: "s + word + "\n"),
                   Contains("extPlugin.enabled: expected true or false"));
        CHECK_THAT(fault(selector("{name: s, enabled: "s + word + "}")),
                   Contains("selector.enabled: expected true or false"));
    }
    CHECK_THAT(fault("weir:\n  extPlugin:\n    enabled: flase\n"), Contains("did you mean \"false\"?"));
    for (const char* word : {"no", "on", "NO", "true", "010", "1e3", "1.10"}) {
        INFO(word);
        CHECK_THAT(selectorsOf(selector("name: "s + word)), Contains("\"name\":\""s + word + "\""));
    }
    for (const char* nothing : {"~", "null", ""}) {
        INFO(nothing);
        CHECK_THAT(fault(selector("name: "s + nothing)), Contains("selector.name: expected a text, got nothing"));
    }
    CHECK_THAT(selectorsOf(selector("name: 'null'")), Contains(R"("name":"null")"));
}

TEST_CASE("variables are data wherever they stand, and what is not set is named (H06)") {
    const std::vector<std::string> environment = {"P=" + kHostile, "Q=one\ntwo: x", "N=7", "R=${N}"};
    struct Row { const char* text; std::string json; };
    const Row rows[] = {
        {"${P}", R"(a$b#c: d\"e'f\\g%h{i})"},
        {"ws://u:${P}@h", R"(ws://u:a$b#c: d\"e'f\\g%h{i}@h)"},
        {"${Q}", R"(one\ntwo: x)"},
        {"<${NOPE:}>", "<>"},
        {"${NOPE:dflt}", "dflt"},
        {"${NOPE:http://x:1}", "http://x:1"},
        {"${NOPE:${N}}", "7"},
        {"${N}-${N}", "7-7"},
        {"${R}", "${N}"},
        {"$${P}", "${P}"},
        {"/b/$1", "/b/$1"},
        {"${not a name}", "${not a name}"},
    };
    std::string yaml;
    for (const Row& row : rows) yaml += "  - {name: '"s + row.text + "'}\n";
    const std::string json = selectorsOf("plugins:\n- name: p\n  selectors:\n" + yaml, environment);
    for (const Row& row : rows) {
        INFO(row.text);
        CHECK_THAT(json, Contains("\"name\":\"" + row.json + "\""));
    }
    CHECK_THAT(fault(selector("name: a ${NOPE} b")),
               Catch::StartsWith("weir.yaml:4:11: the environment variable NOPE is not set"));
    CHECK_THAT(fault("weir:\n  server:\n    port: ${NOPE}\n"), Contains("weir.yaml:3:11: the environment variable NOPE"));
    CHECK_THAT(fault("weir: {server: {port: ${N}}}\n"), Contains("weir.yaml:1:24: \"${...}\" inside { } or [ ] needs"));
    CHECK(fault("weir:\n  server:\n    port: ${N}\n  extPlugin:\n    enabled: ${NOPE:off}\n", environment) == "good");
    CHECK_THAT(fault("weir:\n  server:\n    port: ${P}\n", environment), Contains("weir.yaml:3:11: server.port: expected"));
}

TEST_CASE("what a variable brings into a secret field is in no message (H06)") {
    const std::vector<std::string> environment = {"HUSH=hush-hush"};
    const std::string rows[] = {
        "weir:\n  local: {sha512Key: '${HUSH}'}\n",
        "weir:\n  management: {token: {file: '/nonexistent/x', env: '${HUSH}'}}\n",
        "shenyu:\n  local: {enabled: true, sha512Key: '${HUSH}'}\n",
        "appAuth:\n- {appKey: k, appSecret: ['${HUSH}']}\n",
        "appAuth:\n- {appKey: k, appSecret: '${HUSH}', opne: x}\n",
        divideTo("{upstreamUrl: 'ws://u:${HUSH}@h'}"),
        divideTo("{upstreamUrl: 'u:${HUSH}@h:80'}"),
    };
    for (const std::string& row : rows) {
        INFO(row);
        CHECK_THAT(fault(row, environment), Catch::StartsWith("weir.yaml:") && !Contains("hush-hush"));
    }
    const Finished ignored = check("shenyu:\n  sync: {websocket: {token: '${HUSH}'}}\n", environment);
    CHECK(ignored.exitCode == 0);
    CHECK_THAT(ignored.output, Contains("shenyu.sync.websocket: Weir has no data sync yet") && !Contains("hush-hush"));
}

TEST_CASE("BOM and CRLF change nothing, other encodings are refused with their place, empty means defaults (H07)") {
    const std::string good = "weir:\n  extPlugin: {enabled: false}\n" + selector("name: s");
    std::string crlf;
    for (const char c : good) crlf += c == '\n' ? "\r\n"s : std::string(1, c);
    const std::string expected = selectorsOf(good);
    for (const std::string& same : {"\xEF\xBB\xBF" + good, crlf, "\xEF\xBB\xBF" + crlf, good.substr(0, good.size() - 1)})
        CHECK(selectorsOf(same) == expected);
    for (const char* empty : {"", "\n\n", "# nothing\n# yet", "\xEF\xBB\xBF", "---\n"}) CHECK(fault(empty) == "good");
    CHECK_THAT(fault("\xFF\xFE" "w\0e\0"s), Contains("weir.yaml:1:1: the file is UTF-16; expected UTF-8"));
    CHECK_THAT(fault("weir:\n  # caf\xE9\n"), Contains("weir.yaml:2:8: the byte 0xE9 is not UTF-8"));
    CHECK_THAT(fault("weir:\n  log: {level: in\0fo}\n"s), Contains("weir.yaml:2:18: a NUL byte"));
}

TEST_CASE("comments and blanks around values are none of them (H09)") {
    const std::string json = selectorsOf("plugins:\n- name: p\n  selectors:\n"
                                         "  - name: /a#b\n    enabled: false   # off\n"
                                         "  - name: \"/a #b\"\n    enabled: false \n    sort : 10\n"
                                         "    handle:\n    - http://127.0.0.1:2379   # a\n");
    CHECK_THAT(json, Contains(R"("name":"/a#b")") && Contains(R"("name":"/a #b")") && Contains("\"sort\":10") &&
                         Contains("http://127.0.0.1:2379") && !Contains("# a") && !Contains("\"enabled\":true,\"logged"));
}

TEST_CASE("an upstream that could not be called is refused with its field (H10)") {
    struct Row { const char* upstream; const char* says; };
    const Row rows[] = {
        {"{upstreamUrl: ''}", "[0].upstreamUrl: expected host:port, but '' is empty"},
        {"{upstreamUrl: }", "[0].upstreamUrl: "},
        {"{upstreamUrl: ':8080'}", "[0].upstreamUrl: expected host:port, but ':8080' has no host"},
        {"{upstreamUrl: host}", "[0].upstreamUrl: expected host:port, but 'host' has no port"},
        {"{protocol: 'http://', upstreamUrl: 'http://h:1'}", "'http://h:1' has a scheme, which belongs in protocol"},
        {"{upstreamUrl: 'h:0'}", "'h:0' has a port that is not from 1 to 65535"},
        {"{upstreamUrl: 'h:80/path'}", "'h:80/path' has a path"},
        {"{upstreamUrl: '${NOPE:}'}", "[0].upstreamUrl: expected host:port, but '' is empty"},
        {"{upstreamUrl: 'h:80', weight: -1}", "[0].weight: expected a whole number"},
        {"{upstreamUrl: 'h:80', weight: heavy}", "[0].weight: expected a whole number"},
        {"{upstreamUrl: 'h:80', weight: ''}", "[0].weight: expected a whole number"},
    };
    for (const Row& row : rows) {
        INFO(row.upstream);
        CHECK_THAT(fault(divideTo(row.upstream)), Catch::StartsWith("weir.yaml:4:") && Contains(row.says));
    }
    // A number in quotes is that number everywhere, blanks around an address are dropped.
    for (const char* good : {"{upstreamUrl: '[::1]:80'}", "{upstreamUrl: ' 127.0.0.1:80 '}",
                             "{upstreamUrl: '127.0.0.1:80', weight: '50'}", "{upstreamUrl: '127.0.0.1:${NOPE:80}'}"})
        CHECK(fault(divideTo(good)) == "good");
}

TEST_CASE("the file of a ShenYu gateway starts, and what is not taken of it is named once") {
    const GatewayProcess gateway(kShenyu);
    CHECK(get(gateway.managementPort(), "/actuator/health").status() == 200);
    CHECK(get(gateway.managementPort(), "/shenyu/plugin/findByName?name=p").status() == 403);  // local.enabled is false
    const std::string log = gateway.process().output();
    for (const char* root : {"\"spring\"", "\"eureka\"", "\"management\"", "\"logging\"", " server: ",
                             "shenyu.sync.websocket: Weir has no data sync yet", "shenyu.cross: ", "shenyu.netty: "}) {
        INFO(root);
        const auto at = log.find(root);
        REQUIRE(at != std::string::npos);
        CHECK(log.find(root, at + 1) == std::string::npos);
    }
    CHECK_THAT(log, !Contains("shenyu.extPlugin") && !Contains("shenyu.namespace") && !Contains("shenyu.local") &&
                        !Contains("shenyu.upstreamCheck"));
    const TempDirectory directory;
    const Finished more = runToEnd(
        WEIR_BINARY, {"check", "-c", directory.write("weir.yaml", kShenyu + "weir:\n  server: {port: 1}\n"s).string()});
    CHECK(more.exitCode == 0);
    CHECK_THAT(more.output, Contains("weir.yaml:3:3: weir.server.port says otherwise and goes before this"));
}

TEST_CASE("a second document is refused with what to do about profiles") {
    CHECK_THAT(fault("server:\n  port: 1\n---\nspring: {config: {activate: {on-profile: test}}}\n"),
               Contains("weir.yaml:3:1: a second document") && Contains("there are no profiles"));
}

TEST_CASE("a file that an included file includes is followed, and a circle is refused") {
    RecordingUpstream first([](const HttpMessage&) { return RecordingUpstream::ok("first"); });
    RecordingUpstream second([](const HttpMessage&) { return RecordingUpstream::ok("second"); });
    const TempDirectory directory;
    const auto divideOf = [](const std::string& yaml) { return "plugins:\n" + yaml.substr(yaml.find("  - name: divide")); };
    const std::string all = proxyTo(first.address());
    const auto file = directory.write("weir.yaml", "include: [d/one.yaml]\n" + all.substr(0, all.find("  - name: divide")));
    directory.write("d/one.yaml", "include: ['e/*.yaml']\n");
    const auto nested = directory.write("d/e/two.yaml", divideOf(all));
    ChildProcess gateway(WEIR_BINARY, {"run", "-c", file, "--server.port=0", "--management.port=0"});
    const int port = std::stoi(gateway.waitForLine("listening on 127.0.0.1:"));
    CHECK(get(port, "/http/a").body == "first");
    std::ofstream(nested) << divideOf(proxyTo(second.address()));
    CHECK(eventually([&] { return get(port, "/http/a").body == "second"; }));
    directory.write("d/e/three.yaml", "include: [../one.yaml]\n");
    gateway.waitForLine("include: \"../one.yaml\" leads back to ");
    CHECK(get(port, "/http/a").body == "second");
}
