// The lines of the SPI index decide which module serves a key.
#include <filesystem>
#include <fstream>
#include <iterator>

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

// A copy of the core modules, with the module `last` (roundRobin that always picks the last upstream) beside them.
class ModuleDirectory {
public:
    ModuleDirectory() : path_(directory_.path() / "plugins") {
        fs::copy(WEIR_TEST_PLUGINS, path_, fs::copy_options::recursive);
        fs::copy_file(fs::path(WEIR_TEST_FIXTURES) / "last.so", path_ / "last.so");
    }

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
    CHECK_NOTHROW(gateway.process().waitForLine("balancer: upstream 0 answered after a while"));
    GatewayProcess refused(proxyTo("127.0.0.1:" + std::to_string(unusedPort())), {modules.argument()});
    CHECK(get(refused.port(), "/http/a").status() == 502);
    CHECK_NOTHROW(refused.process().waitForLine("balancer: upstream 0 failed after a while"));
}

TEST_CASE("a line of the SPI index that no manifest backs ends the start with file and line") {
    struct Row {
        const char* line;
        const char* says;
    };
    const Row rows[] = {
        {"roundRobin = nobody", "there is no module \"nobody\" to serve \"roundRobin\""},
        {"roundRobin = divide", "the module \"divide\""},
        {"leastActive = last", "does not provide LoadBalancer \"leastActive\""},
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
