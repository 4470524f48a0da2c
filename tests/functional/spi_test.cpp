// The lines of the SPI index decide which module serves a key, and what core modules provide beside plugins.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/temp_directory.hpp"
#include "support/wire_connection.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;

namespace {

// A copy of the core modules with a fixture beside them; `last` is a roundRobin that always picks the last upstream.
class ModuleDirectory {
public:
    explicit ModuleDirectory(const std::string& fixture = "last") : path_(directory_.path() / "plugins") {
        fs::copy(WEIR_TEST_PLUGINS, path_, fs::copy_options::recursive);
        fs::copy_file(fs::path(WEIR_TEST_FIXTURES) / (fixture + ".so"), path_ / (fixture + ".so"));
    }

    // As the installation does it.
    void writeIndex() const { REQUIRE(runToEnd(WEIR_TEST_SPI_INDEX, {path_.string()}).exitCode == 0); }

    std::string argument() const { return "--modules.path=" + path_.string(); }

    // Rewrites the line of spi/LoadBalancer that begins with `before`; returns its number, from 1.
    int replaceLine(const std::string& before, const std::string& after) const {
        const fs::path file = path_ / "spi/LoadBalancer";
        std::ifstream in(file);
        std::string text;
        int number = 0;
        int replaced = 0;
        for (std::string line; std::getline(in, line);) {
            ++number;
            const bool hit = line.rfind(before, 0) == 0;
            if (hit) replaced = number;
            text += (hit ? after : line) + "\n";
        }
        in.close();
        std::ofstream(file) << text;
        REQUIRE(replaced > 0);
        return replaced;
    }

private:
    TempDirectory directory_;
    fs::path path_;
};

// How many of ten requests each of two upstreams gets.
std::vector<std::size_t> shares(const ModuleDirectory& modules) {
    RecordingUpstream first;
    RecordingUpstream last;
    ProxyConfig config;
    config.upstreams = {{first.address()}, {last.address()}};
    GatewayProcess gateway(config.yaml(), {modules.argument()});
    RawClient client(gateway.port());
    for (int i = 0; i < 10; ++i) CHECK(client.exchange("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n").status() == 200);
    return {first.requests().size(), last.requests().size()};
}

// SHA-512 of "123456".
constexpr const char* kKeyHash =
    "ba3253876aed6bc22d4a6ff53d8406c6ad864195ed144ab5c87621b6c233b548"
    "baeae6956df346ec8c17f5ea10f35ee3cbc514797ed7ddd3145464e2a0bab413";

// A call that changes data.
void change(const GatewayProcess& gateway, const std::string& method, const std::string& target,
            const std::string& json = "") {
    const HttpMessage answer = RawClient(gateway.managementPort())
                                   .exchange(method + " " + target + " HTTP/1.1\r\nHost: a\r\nlocalKey: 123456\r\n" +
                                             "Content-Length: " + std::to_string(json.size()) + "\r\n\r\n" + json);
    INFO(answer.raw);
    CHECK(answer.status() == 200);
}

// What the fixtures' handlers say in the log.
std::vector<std::string> heard(GatewayProcess& gateway) {
    const std::string mark = "data-listener: ";
    std::vector<std::string> all;
    std::istringstream lines(gateway.process().output());
    for (std::string line; std::getline(lines, line);) {
        if (const auto at = line.find(mark); at != line.npos) all.push_back(line.substr(at + mark.size()));
    }
    return all;
}

}  // namespace

TEST_CASE("a line of the SPI index decides which module serves a key") {
    const ModuleDirectory modules;
    CHECK(shares(modules) == std::vector<std::size_t>{5, 5});
    modules.replaceLine("roundRobin =", "roundRobin = last");
    CHECK(shares(modules) == std::vector<std::size_t>{0, 10});
}

TEST_CASE("a balancer is told how the calls to its picks went") {
    const ModuleDirectory modules;
    modules.replaceLine("roundRobin =", "roundRobin = last");
    const RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()), {modules.argument()});
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(gateway.process().waitForLine("balancer: upstream 0 answered, open: ") == "0");
    GatewayProcess refused(proxyTo("127.0.0.1:" + std::to_string(unusedPort())), {modules.argument()});
    CHECK(get(refused.port(), "/http/a").status() == 502);
    CHECK(refused.process().waitForLine("balancer: upstream 0 failed, open: ") == "0");  // once for all
    CHECK_THAT(refused.process().output(), !Catch::Contains("open: -1"));
}

TEST_CASE("a balancer is told of a pick that came to nothing") {
    const ModuleDirectory modules;
    modules.replaceLine("roundRobin =", "roundRobin = last");
    Gate gate;
    const RecordingUpstream upstream([&gate](RecordingUpstream::Connection& connection) {
        connection.next();
        gate.wait();
    });
    GatewayProcess gateway(proxyTo(upstream.address()), {modules.argument()});
    SECTION("the client went away while it was called") {
        RawClient client(gateway.port());
        client.send("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n");
        REQUIRE(upstream.waitForRequests(1));
        client.resetOnClose();
        client.close();
        CHECK(gateway.process().waitForLine("balancer: upstream 0 was not asked to the end, open: ") == "0");
    }
    SECTION("it was for an explanation only") {
        const std::string body = R"({"request":"GET /http/a"})";
        const auto answer = RawClient(gateway.managementPort())
                                .exchange("POST /explain HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                          std::to_string(body.size()) + "\r\n\r\n" + body);
        CHECK(answer.status() == 200);
        CHECK(gateway.process().waitForLine("balancer: upstream 0 was not asked to the end, open: ") == "0");
        CHECK(upstream.connections() == 0);
    }
    gate.open();
}

TEST_CASE("a line of the SPI index that no manifest backs ends the start with file and line") {
    struct Row {
        const char* line;
        const char* says;
    };
    const Row rows[] = {
        {"roundRobin = nobody", "there is no module \"nobody\" to serve \"roundRobin\""},
        {"roundRobin = divide", "the module \"divide\""},
        {"anything = last", "does not provide LoadBalancer \"anything\""},
        {"roundRobin", "expected \"key = module\""},
    };
    const RecordingUpstream upstream;
    TempDirectory directory;
    const std::string file = directory.write("weir.yaml", proxyTo(upstream.address()));
    for (const Row& row : rows) {
        INFO(row.line);
        const ModuleDirectory modules;
        const int number = modules.replaceLine("roundRobin =", row.line);
        const auto finished =
            runToEnd(WEIR_BINARY, {"run", "-c", file, "--server.port=0", "--management.port=0", modules.argument()});
        CHECK(finished.exitCode == 78);
        CHECK_THAT(finished.output, Catch::Contains("spi/LoadBalancer:" + std::to_string(number) + ": ") &&
                                        Catch::Contains(row.says));
    }
}

TEST_CASE("a core module's data handler hears the data in force at the start, then each change, then nothing") {
    const ModuleDirectory modules("data-listener");
    modules.writeIndex();
    const RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()),
                           {modules.argument(), std::string("--local.sha512Key=") + kKeyHash});
    std::vector<std::string> expected = {"created", "upserted plugin divide divide",
                                         "upserted selector divide/orders orders",
                                         "upserted rule divide/orders/all all"};
    CHECK(heard(gateway) == expected);
    CHECK_THAT(runToEnd(WEIR_BINARY, {"plugin", "list", modules.argument()}).output,
               Catch::Matches("(.|\\n)*PluginDataHandler +divide +- +data-listener +1.0.0 +selected(.|\\n)*"));

    change(gateway, "POST", "/shenyu/plugin/saveOrUpdate", R"({"id":"divide","name":"divide","sort":7})");
    change(gateway, "POST", "/shenyu/plugin/saveOrUpdate", R"({"id":"global","name":"global","sort":7})");
    change(gateway, "GET",
           "/shenyu/plugin/rule/delete?pluginName=divide&selectorId=divide/orders&id=divide/orders/all");
    expected.insert(expected.end(), {"upserted plugin divide divide", "removed rule divide/orders/all"});
    CHECK(eventually([&] { return heard(gateway) == expected; }));

    CHECK(gateway.stop() == 0);
    gateway.process().waitForOutputEnd();
    expected.push_back("destroyed");
    CHECK(heard(gateway) == expected);
}

TEST_CASE("a core module may provide a plugin and the handler of its data") {
    const ModuleDirectory modules("own-listener");
    modules.writeIndex();
    const RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()) + "  - name: heard\n", {modules.argument()});
    CHECK(heard(gateway) == std::vector<std::string>{"created", "upserted plugin heard heard"});
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(upstream.requests().front().field("X-Heard") == "heard");
}

TEST_CASE("a core module's data handler that the SPI index does not name is not created") {
    const ModuleDirectory modules("data-listener");
    const RecordingUpstream upstream;
    GatewayProcess gateway(proxyTo(upstream.address()), {modules.argument()});
    CHECK(heard(gateway).empty());
}

TEST_CASE("an extension's data handler for a plugin that a core module listens to is refused") {
    const ModuleDirectory modules("data-listener");
    modules.writeIndex();
    const RecordingUpstream upstream;
    const TempDirectory extensions;
    fs::copy_file(fs::path(WEIR_TEST_FIXTURES) / "other-listener.so", extensions.path() / "other-listener.so");
    GatewayProcess gateway(proxyTo(upstream.address()), {modules.argument(), "--extPlugin.enabled=true",
                                                         "--extPlugin.path=" + extensions.path().string()});
    CHECK_NOTHROW(gateway.process().waitForLine(
        "PluginDataHandler 'divide', served by the core module 'data-listener'"));
    CHECK(heard(gateway).size() == 4);
}
