// What the management port tells of a running gateway, and `weir plugin list --url`, which asks it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "functional/ext_folder.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

constexpr int kWrongUsage = 64;
constexpr int kUnavailable = 69;
constexpr int kBadConfiguration = 78;

std::string page(const GatewayProcess& gateway, const std::string& path) {
    return get(gateway.managementPort(), path).body;
}

// Waits until the page of the module has that text.
bool tells(const GatewayProcess& gateway, const std::string& module, const std::string& text) {
    return eventually([&] { return page(gateway, "/plugins/" + module).find(text) != std::string::npos; });
}

Finished list(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> words = {"plugin", "list"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return runToEnd(WEIR_BINARY, words, environment);
}

std::string urlOf(int port) { return "http://127.0.0.1:" + std::to_string(port); }

// The first line with that word in it.
std::string lineWith(const std::string& text, const std::string& word) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(word) != std::string::npos) return line;
    }
    return "";
}

// Somebody opens the FIFO for writing as soon as the other side reads it.
bool openGate(const std::string& fifo) {
    return eventually([&] {
        const int fd = ::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0) ::close(fd);
        return fd >= 0;
    });
}

}  // namespace

TEST_CASE("health is 503 STARTING while the first scan creates a module, and 200 UP once requests are served") {
    const TempDirectory directory;
    const std::string fifo = (directory.path() / "gate").string();
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const ExtFolder folder;
    folder.copy(built("gate", "gate"), "gate.so");
    std::vector<std::string> arguments = folder.arguments();
    arguments.insert(arguments.begin(), {"run", "-c", directory.write("weir.yaml", proxyTo("127.0.0.1:1")).string(),
                                         "--server.port=0", "--management.port=0"});
    ChildProcess gateway(WEIR_BINARY, arguments, {"WEIR_TEST_GATE=" + fifo});
    const int port = std::stoi(gateway.waitForLine("management on 127.0.0.1:"));
    const HttpMessage starting = get(port, "/actuator/health");
    CHECK(starting.status() == 503);
    CHECK_THAT(starting.body, Contains("\"status\":\"STARTING\"") && Contains("\"port\":0"));
    CHECK(gateway.output().find("listening on") == std::string::npos);
    CHECK(get(port, "/plugins").status() == 200);

    REQUIRE(openGate(fifo));
    const std::string served = gateway.waitForLine("listening on 127.0.0.1:");
    CHECK(eventually([&] { return get(port, "/actuator/health").status() == 200; }));
    CHECK_THAT(get(port, "/actuator/health").body,
               Contains("\"status\":\"UP\"") && Contains("\"port\":" + served.substr(0, served.find(','))));
    CHECK_THAT(get(port, "/plugins/gate").body, Contains("\"state\":\"active\""));
}

TEST_CASE("GET /plugins/{id} follows a module from its arrival over a refused and a good replacement to its end") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    CHECK(get(gateway.managementPort(), "/plugins/hello").status() == 404);
    folder.copy(built("hello-1", "hello"), "hello.so");
    REQUIRE(tells(gateway, "hello", "\"generation\":1"));
    CHECK_THAT(page(gateway, "/plugins/hello"),
               Contains("\"id\":\"hello\",\"version\":\"1.0.0\",\"state\":\"active\"") &&
                   Contains("\"file\":\"" + folder.file("hello.so").string()) && Contains("\"sha256\":\"") &&
                   Contains("\"key\":\"hello\",\"order\":-100") && Contains("\"refused\":[],\"draining\":[]"));

    folder.renameBytes("this is no module", "hello.so");
    REQUIRE(tells(gateway, "hello", "\"reason\":\""));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("\"state\":\"active\"") && Contains("\"generation\":1"));
    CHECK_THAT(page(gateway, "/plugins"), Contains("\"module\":\"hello.so\",\"version\":\"\",\"state\":\"refused\""));
    CHECK(get(gateway.port(), "/http/a").field("X-Hello") == "1");

    RawClient slow(gateway.port());  // holds on to the first generation
    const LogWatch log(gateway);
    slow.send("GET /http/a HTTP/1.1\r\nHost: weir.test\r\nX-Sleep: 3000\r\n\r\n");
    log.waitFor({"hello: sleeping 1"});
    folder.rename(built("hello-2", "hello"), "hello.so");
    REQUIRE(tells(gateway, "hello", "\"generation\":2"));
    CHECK_THAT(page(gateway, "/plugins/hello"),
               Contains("\"refused\":[]") && Contains("\"state\":\"draining\"") && Contains("\"drainingSeconds\":"));
    CHECK(slow.response().field("X-Hello") == "1");
    CHECK(tells(gateway, "hello", "\"draining\":[]"));

    folder.remove("hello.so");
    CHECK(eventually([&] { return get(gateway.managementPort(), "/plugins/hello").status() == 404; }));
}

TEST_CASE("a refused file is listed until it is gone") {
    const ExtFolder folder;
    std::ofstream(folder.file("text.so")) << "this is no module\n";
    folder.copy(built("other-divide", "other-divide"), "newcomer.so");
    GatewayProcess gateway(proxyTo("127.0.0.1:" + std::to_string(unusedPort())), folder.arguments());
    const std::string text = "\"module\":\"text.so\",\"version\":\"\",\"state\":\"refused\",\"file\":\"" +
                             folder.file("text.so").string() + "\"";
    CHECK_THAT(page(gateway, "/plugins"),
               Contains(text) && Contains("\"module\":\"other-divide\",\"version\":\"1.0.0\",\"state\":\"refused\""));
    CHECK_THAT(page(gateway, "/plugins/other-divide"),
               Contains("\"state\":\"refused\"") && Contains("served by the core module 'divide'"));
    CHECK_THAT(page(gateway, "/plugins/divide"), Contains("\"state\":\"active\""));
    folder.remove("text.so");
    folder.remove("newcomer.so");
    CHECK(eventually([&] { return page(gateway, "/plugins").find("refused") == std::string::npos; }));
}

TEST_CASE("data waits for its module, and says so no more once that is there") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    std::string yaml = proxyTo(upstream.address());
    yaml += "  - name: hello\n    config: {}\n";
    const GatewayProcess gateway(yaml, folder.arguments());
    CHECK_THAT(page(gateway, "/actuator/pluginData"), Contains("\"waiting\":true"));
    CHECK_THAT(page(gateway, "/plugins"), Contains("\"key\":\"hello\",\"module\":\"\",\"version\":\"\",\"state\":\"waiting\""));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("\"code\":404") && Contains("waits"));
    folder.copy(built("hello-1", "hello"), "hello.so");
    CHECK(tells(gateway, "hello", "\"state\":\"active\""));
    CHECK_THAT(page(gateway, "/actuator/pluginData"), !Contains("waiting"));
    CHECK_THAT(page(gateway, "/plugins"), !Contains("waiting"));
}

TEST_CASE("plugin list --url shows the table of a running gateway") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    std::ofstream(folder.file("text.so")) << "this is no module\n";
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    const Finished running = list({"--url", urlOf(gateway.managementPort())});
    INFO(running.output);
    CHECK(running.exitCode == 0);
    const Finished here = list({"-c", gateway.configuration().string()});
    std::istringstream titles(running.output.substr(0, running.output.find('\n')));
    for (std::string title; titles >> title;) CHECK_THAT(lineWith(here.output, "INTERFACE"), Contains(title));
    CHECK_THAT(lineWith(running.output, "divide"), Contains("200") && Contains("active"));
    CHECK_THAT(lineWith(running.output, "roundRobin"), Contains("LoadBalancer") && Contains("load-balancer"));
    CHECK_THAT(lineWith(running.output, "hello"), Contains("-100") && Contains("1.0.0") && Contains("active"));
    CHECK_THAT(lineWith(running.output, "text.so"), Contains("refused: "));
}

TEST_CASE("plugin list --url says what is wrong") {
    const GatewayProcess gateway(proxyTo("127.0.0.1:1"));
    const std::string unused = urlOf(unusedPort());
    struct Row {
        std::string url;
        int exitCode;
        const char* says;
    };
    const Row rows[] = {
        {unused, kUnavailable, "refused"},
        {"http://no-such-host.invalid:1", kUnavailable, "no-such-host.invalid"},
        {urlOf(gateway.port()), kUnavailable, "not a Weir management port"},
        {"127.0.0.1:9196", kWrongUsage, "expected a URL like http://127.0.0.1:9196"},
        {"https://127.0.0.1:9196", kWrongUsage, "expected a URL like http://127.0.0.1:9196"},
    };
    for (const Row& row : rows) {
        INFO(row.url);
        const Finished finished = list({"--url", row.url});
        CHECK(finished.exitCode == row.exitCode);
        CHECK_THAT(finished.output, Contains(row.says) && Contains("weir: " + row.url));
    }
}

TEST_CASE("plugin list --url takes the token from the environment, a file or the command line") {
    const TempDirectory directory;
    const std::string file = directory.write("token", "s3cret\n").string();
    // The test's own port on all addresses: with a token the gateway tells nothing to others.
    ChildProcess gateway(WEIR_BINARY,
                         {"run", "-c", directory.write("weir.yaml", proxyTo("127.0.0.1:1")).string(), "--server.port=0",
                          "--management.address=0.0.0.0", "--management.port=0"},
                         {"WEIR_MANAGEMENT_TOKEN=s3cret"});
    const std::string url = urlOf(std::stoi(gateway.waitForLine("management on 0.0.0.0:")));
    gateway.waitForLine("listening on");
    struct Row {
        std::vector<std::string> arguments;
        std::vector<std::string> environment;
        int exitCode;
    };
    const Row rows[] = {
        {{}, {"WEIR_MANAGEMENT_TOKEN=s3cret"}, 0},
        {{"--management.token.file=" + file}, {}, 0},
        {{"--token", "s3cret"}, {}, 0},
        {{}, {}, kBadConfiguration},
        {{"--token=other"}, {}, kBadConfiguration},
    };
    for (const Row& row : rows) {
        std::vector<std::string> arguments = row.arguments;
        arguments.insert(arguments.begin(), {"--url", url});
        const Finished finished = list(arguments, row.environment);
        INFO(finished.output);
        CHECK(finished.exitCode == row.exitCode);
        CHECK_THAT(finished.output, Contains(row.exitCode == 0 ? "divide" : "token") && !Contains("s3cret"));
    }
}
