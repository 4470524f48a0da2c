// Modules that pass their trial and then do not come back from being loaded.
#include <fstream>
#include <sstream>

#include "functional/ext_folder.hpp"
#include "functional/module_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/temp_directory.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

// Whether the process has a child now. Its file `children` is not there on every system.
bool hasChild(const GatewayProcess& gateway) {
    for (const auto& process : fs::directory_iterator("/proc")) {
        std::string stat;
        if (!std::getline(std::ifstream(process.path() / "stat"), stat)) continue;
        char state = 0;
        pid_t parent = 0;
        std::istringstream(stat.substr(stat.rfind(')') + 1)) >> state >> parent;  // behind "PID (NAME)"
        if (parent == gateway.process().pid()) return true;
    }
    return false;
}

// What GET /plugins says of the one load that hangs; -1: nothing.
int hangingSeconds(const GatewayProcess& gateway) {
    const std::string rows = page(gateway, "/plugins");
    const std::string mark = "\"hangingSeconds\":";
    const std::size_t at = rows.find(mark);
    return at == std::string::npos ? -1 : std::stoi(rows.substr(at + mark.size()));
}

// What hello-slow waits for in its constructor.
class SlowGate {
public:
    std::vector<std::string> environment() const { return {"WEIR_TEST_GATE=" + (directory_.path() / "gate").string()}; }
    void open() const { directory_.write("gate", ""); }
    void close() const { fs::remove(directory_.path() / "gate"); }

private:
    TempDirectory directory_;
};

}  // namespace

TEST_CASE("a load that hangs after its trial is shown with its age, all else goes on, and the process ends at once") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.createTimeout=2s"}));
    const LogWatch log(gateway);
    folder.rename(built("hello-hangs", "hello"), "hello.so");
    log.waitFor({folder.file("hello.so").string(), "refused", "create_timeout", "not done after 2000 ms",
                 "its thread goes on until the process ends", "its last generation serves on"});
    CHECK(hello(gateway) == "1");
    CHECK_THAT(page(gateway, "/plugins"), Contains("\"state\":\"hanging\""));
    const int seconds = hangingSeconds(gateway);
    CHECK(seconds >= 2);
    CHECK(eventually([&] { return hangingSeconds(gateway) > seconds; }));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("\"state\":\"active\"") && Contains("create_timeout") &&
                                                    Contains("\"hanging\":[{\"id\":\"hello\""));
    CHECK_THAT(page(gateway, "/actuator/prometheus"), Contains("{module=\"hello\",state=\"hanging\"} 1\n"));

    folder.copy(built("order-a", "order-a"), "order.so");
    CHECK(eventually([&] {
        get(gateway.port(), "/http/a");
        return lastRequest(upstream).field("X-Order") == "a";
    }));
    const HttpMessage again = call(gateway, "/plugins/hello:reload");  // makes no second thread that hangs
    CHECK(again.status() == 409);
    CHECK_THAT(again.body, Contains("create_timeout") && Contains("hanging since"));
    CHECK(log.count("hello: creating hangs") == 1);
    folder.rename(built("hello-2", "hello"), "hello.so");
    CHECK(becomes(gateway, "2"));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("\"hanging\":[{\"id\":\"hello\""));

    CHECK(gateway.stop() == 0);
    log.waitFor({"still hangs: ending at once"});
}

TEST_CASE("a load that comes back late is not used, and leaves the process") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const SlowGate gate;
    GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.createTimeout=200ms"}),
                           gate.environment());
    const LogWatch log(gateway);
    folder.rename(built("hello-slow", "hello"), "hello.so");
    log.waitFor({"hello.so", "create_timeout"});
    CHECK(shows(gateway, "/plugins/hello", "\"state\":\"hanging\""));
    gate.open();
    log.waitFor({"module hello (" + folder.file("hello.so").string() + "): its load came back after", "not used"});
    CHECK(log.count("hello: destroyed slow") == 1);
    CHECK_THAT(page(gateway, "/plugins/hello"), !Contains("\"state\":\"hanging\"") && Contains("create_timeout"));
    CHECK(hello(gateway) == "none");
    CHECK(gateway.mappedFiles("/hello-").empty());
    CHECK(gateway.stop() == 0);
    CHECK(log.count("still hangs") == 0);
}

TEST_CASE("what hung when the process ended is set aside at the next start") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    {
        GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.createTimeout=100ms"}));
        const LogWatch log(gateway);
        folder.rename(built("hello-hangs", "hello"), "hello.so");
        log.waitFor({"hello.so", "create_timeout"});
        CHECK(gateway.stop() == 0);
    }
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("set_aside"));
    CHECK_THAT(gateway.process().output(), !Contains("hello: creating"));
}

TEST_CASE("a stop waits neither for a trial that hangs nor for a load") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.probeTimeout=5m",
                                                                                "--extPlugin.createTimeout=5m"}));
    const LogWatch log(gateway);
    SECTION("a trial") {
        folder.rename(fs::path(WEIR_BAD_MODULES) / "load-sleeps" / "bad-load-sleeps.so", "bad-load-sleeps.so");
        REQUIRE(eventually([&] { return hasChild(gateway); }));
    }
    SECTION("a load") {
        folder.rename(built("hello-hangs", "hello"), "hello.so");
        log.waitFor({"hello: creating hangs"});
    }
    CHECK(gateway.stop() == 0);
}

TEST_CASE("what a stop interrupts is loaded by the next start, and what served meanwhile is not suspected") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const SlowGate gate;
    folder.copy(built("order-a", "order-a"), "order.so");
    for (int stops = 0; stops < 3; ++stops) {  // as many deaths of the gateway would set order-a aside
        GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder), gate.environment());
        const LogWatch log(gateway);
        folder.rename(built("hello-slow", "hello"), "hello.so");
        log.waitFor({"hello: creating slow"});
        CHECK(gateway.stop() == 0);
        log.waitFor({"still hangs: ending at once"});
        folder.remove("hello.so");
    }
    folder.copy(built("hello-slow", "hello"), "hello.so");
    gate.open();
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder), gate.environment());
    CHECK(hello(gateway) == "slow");
    CHECK(lastRequest(upstream).field("X-Order") == "a");
}

TEST_CASE("the access log has all requests though a load hangs at the end") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const TempDirectory directory;
    const fs::path file = directory.path() / "access.log";
    GatewayProcess gateway(proxyTo(upstream.address()),
                           callArguments(folder, {"--accessLog.format=json", "--accessLog.file=" + file.string()}));
    const LogWatch log(gateway);
    folder.rename(built("hello-hangs", "hello"), "hello.so");
    log.waitFor({"hello: creating hangs"});
    CHECK(get(gateway.port(), "/http/last").status() == 200);
    CHECK(gateway.stop() == 0);
    log.waitFor({"still hangs: ending at once"});
    CHECK_THAT(bytesOf(file), Contains("/http/last"));
}

TEST_CASE("a stop during a roll-back is not taken for a roll-back that is refused") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const SlowGate gate;
    gate.open();
    folder.copy(built("hello-slow", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder), gate.environment());
    REQUIRE(hello(gateway) == "slow");
    folder.rename(built("hello-1", "hello"), "hello.so");
    REQUIRE(becomes(gateway, "1"));
    gate.close();
    const LogWatch log(gateway);
    RawClient client(gateway.managementPort());
    client.send("POST /plugins/hello:rollback HTTP/1.1\r\nHost: a\r\n" + std::string(kTokenField) +
                "Content-Length: 0\r\n\r\n");
    log.waitFor({"hello: creating slow"});
    CHECK(gateway.stop() == 0);
    log.waitFor({"stopped"});
    CHECK(log.count("is not rolled back") == 0);
}

TEST_CASE("an upload whose load hangs leaves the files as they were, and they serve after a restart") {
    const std::string theirs = ",\"pluginJarSignature\":\"" + base64(std::string(64, 'b')) + "\"";
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const auto arguments = callArguments(folder, {"--extPlugin.upload=true", "--extPlugin.createTimeout=2s"});
    const std::string hangs = base64(bytesOf(built("hello-hangs", "hello")));
    GatewayProcess gateway(proxyTo(upstream.address()), arguments);
    SECTION("which were not there") {
        const HttpMessage answer = upload(gateway, hangs, theirs);
        CHECK(answer.status() == 400);
        CHECK_THAT(answer.body, Contains("create_timeout"));
        CHECK_FALSE(fs::exists(folder.file("hello.so")));
        CHECK_FALSE(fs::exists(folder.file("hello.so.sig")));
        CHECK_THAT(page(gateway, "/plugins"), !Contains("\"state\":\"refused\""));
    }
    SECTION("of a module that serves") {
        const std::string one = bytesOf(built("hello-1", "hello"));
        const std::string ours = ",\"pluginJarSignature\":\"" + base64(std::string(64, 'a')) + "\"";
        REQUIRE(upload(gateway, base64(one), ours).body == "success");
        const HttpMessage answer = upload(gateway, hangs, theirs);
        CHECK(answer.status() == 400);
        CHECK_THAT(answer.body, Contains("create_timeout"));
        CHECK((bytesOf(folder.file("hello.so")) == one));
        CHECK(bytesOf(folder.file("hello.so.sig")) == std::string(64, 'a'));
        CHECK(hello(gateway) == "1");
        CHECK(gateway.stop() == 0);
        const GatewayProcess next(proxyTo(upstream.address()), arguments);
        CHECK(hello(next) == "1");
    }
}
