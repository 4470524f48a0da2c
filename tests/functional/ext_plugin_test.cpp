// Modules that are dropped into the ext directory, replaced and removed while requests run.
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>

#include "functional/ext_folder.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/request_load.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;

namespace {

#ifdef WEIR_SANITIZED
constexpr int kRounds = 6;
constexpr int kTouches = 12;
#else
constexpr int kRounds = 20;
constexpr int kTouches = 60;
#endif
// A new thread may add a heap of its own now and then; a leaked module is five mappings.
constexpr std::size_t kHeaps = 16;
constexpr std::size_t kResidentMargin = 1 << 20;

constexpr const char* kRequest = "GET /http/a HTTP/1.1\r\nHost: weir.test\r\n\r\n";

// Answers without keeping what it got: there will be many requests.
const RecordingUpstream::Serve kForgetful = [](RecordingUpstream::Connection& connection) {
    while (connection.message()) connection.send(RecordingUpstream::ok("ok"));
};

// X-Hello of a request that goes through; "none" without one.
std::string hello(const GatewayProcess& gateway) {
    const HttpMessage answer = get(gateway.port(), "/http/a");
    REQUIRE(answer.status() == 200);
    return answer.field("X-Hello").value_or("none");
}

bool becomes(const GatewayProcess& gateway, const std::string& value) {
    return eventually([&] { return hello(gateway) == value; });
}

// An answer shows one generation of the module or none.
std::string oneGeneration(const HttpMessage& answer) {
    const auto value = answer.field("X-Hello").value_or("none");
    const bool known = value == "none" || value == "1" || value == "2";
    return answer.count("X-Hello") <= 1 && known ? "" : answer.raw;
}

// All staged copies of the module `hello` that are mapped. A copy is named by the module's id and a number.
std::size_t mappedHellos(const GatewayProcess& gateway) { return gateway.mappedFiles("/hello-").size(); }

void setModified(const fs::path& file, timespec time) {
    const timespec times[2] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

timespec modified(const fs::path& file) {
    struct stat status {};
    REQUIRE(stat(file.c_str(), &status) == 0);
    return status.st_mtim;
}

}  // namespace

TEST_CASE("a module that is in the directory at the start serves the first request") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    CHECK(hello(gateway) == "1");
}

TEST_CASE("health is UP and the data port open only after the first scan") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-slow", "hello"), "hello.so");
    TempDirectory directory;
    std::vector<std::string> arguments{"run", "-c", directory.write("weir.yaml", proxyTo(upstream.address())),
                                       "--server.port=0", "--management.port=0"};
    for (const auto& argument : folder.arguments()) arguments.push_back(argument);
    ChildProcess process(WEIR_BINARY, arguments, {"WEIR_TEST_GATE=" + (directory.path() / "gate").string()});
    const int management = std::stoi(process.waitForLine("management on 127.0.0.1:"));
    process.waitForLine("hello: creating");
    const HttpMessage early = get(management, "/actuator/health");
    CHECK(early.status() == 503);
    CHECK_THAT(early.body, !Catch::Contains("\"UP\""));
    CHECK_THAT(process.output(), !Catch::Contains("listening on 127.0.0.1:"));
    directory.write("gate", "");
    process.waitForLine("listening on 127.0.0.1:");
    CHECK_THAT(process.output(), Catch::Contains("hello: created"));
    CHECK(eventually([&] { return get(management, "/actuator/health").status() == 200; }));
    CHECK_THAT(get(management, "/actuator/health").body, Catch::Contains("\"UP\""));
}

TEST_CASE("a directory that is missing at the start is watched for") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    fs::remove(folder.path());
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    CHECK(hello(gateway) == "none");
    fs::create_directory(folder.path());
    folder.copy(built("hello-1", "hello"), "hello.so");
    CHECK(becomes(gateway, "1"));
}

TEST_CASE("a directory that moves away and comes back is no removal, and what came back changed is taken") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    const LogWatch log(gateway);
    const fs::path elsewhere = folder.path().string() + "-away";
    fs::rename(folder.path(), elsewhere);
    log.waitFor({folder.path().string()});
    CHECK(hello(gateway) == "1");
    std::ofstream(elsewhere / "hello.so", std::ios::binary) << bytesOf(built("hello-2", "hello"));
    fs::rename(elsewhere, folder.path());
    CHECK(becomes(gateway, "2"));
}

TEST_CASE("a module comes, changes and goes under load, however it is copied, without one failed request") {
    const RecordingUpstream upstream(kForgetful);
    ExtFolder folder;
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    RequestLoad load(gateway.port(), kRequest, 4, oneGeneration);
    const auto put = [&](int way, const std::string& build) {
        if (way == 0) folder.rename(built(build, "hello"), "hello.so");
        if (way == 1) folder.copy(built(build, "hello"), "hello.so");
        if (way == 2) folder.copySlowly(built(build, "hello"), "hello.so");
        if (way == 3) folder.swapData(built(build, "hello"), "hello.so");
    };
    std::size_t descriptors = 0;
    std::size_t mappings = 0;
    for (int round = 0; round < kRounds; ++round) {
        const int way = round % 4;
        INFO("round " << round << ", way " << way);
        put(way, "hello-1");
        REQUIRE(becomes(gateway, "1"));
        put(way, "hello-2");
        REQUIRE(becomes(gateway, "2"));
        folder.remove("hello.so");
        REQUIRE(becomes(gateway, "none"));
        REQUIRE(load.waitForRound());
        // Old generations leave once their last request has.
        CHECK(eventually([&] { return mappedHellos(gateway) == 0; }));
        if (round == 3) {  // each way once: what is kept for ever is there
            descriptors = gateway.descriptors();
            mappings = gateway.mappings();
        }
    }
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
    CHECK(load.answers() > 0);
    CHECK(eventually([&] { return gateway.descriptors() <= descriptors; }));
#ifndef WEIR_SANITIZED
    CHECK(eventually([&] { return gateway.mappings() <= mappings + kHeaps; }));
#else
    (void)mappings;  // the sanitizers' own grow
#endif
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a replacement with the same size and modification time is noticed") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    REQUIRE(fs::file_size(built("hello-1", "hello")) == fs::file_size(built("hello-2", "hello")));
    const timespec before = modified(folder.file("hello.so"));
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    REQUIRE(hello(gateway) == "1");
    const fs::path beside = folder.path() / "next";
    fs::copy_file(built("hello-2", "hello"), beside);
    setModified(beside, before);
    fs::rename(beside, folder.file("hello.so"));
    CHECK(becomes(gateway, "2"));
}

TEST_CASE("every replacement is noticed, not only the first, whatever an editor or a link does") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    for (int i = 0; i < 5; ++i) {
        const std::string value = i % 2 == 0 ? "1" : "2";
        folder.rename(built("hello-" + value, "hello"), "hello.so");
        CHECK(becomes(gateway, value));
    }
    SECTION("a backup is made first, and the new text goes into a new file") {
        fs::rename(folder.file("hello.so"), folder.file("hello.so~"));
        folder.copy(built("hello-2", "hello"), "hello.so");
        CHECK(becomes(gateway, "2"));
    }
    SECTION("it is deleted and comes back later") {
        folder.remove("hello.so");
        CHECK(becomes(gateway, "none"));
        folder.copy(built("hello-2", "hello"), "hello.so");
        CHECK(becomes(gateway, "2"));
    }
    SECTION("a link takes another target") {
        for (const std::string value : {"2", "1"}) {
            fs::create_symlink(built("hello-" + value, "hello"), folder.path() / "link");
            fs::rename(folder.path() / "link", folder.file("hello.so"));
            CHECK(becomes(gateway, value));
        }
    }
}

TEST_CASE("the same content again makes no second object, whatever else changes in the directory") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    std::vector<std::string> arguments = folder.arguments();
    arguments.insert(arguments.end(), {"--extPlugin.scheduleDelay=0", "--extPlugin.scheduleTime=1"});
    GatewayProcess gateway(proxyTo(upstream.address()), arguments);
    const auto touch = [&](int step) {
        if (step == 0) setModified(folder.file("hello.so"), {0, UTIME_NOW});
        if (step == 1) folder.copy(built("hello-1", "hello"), "hello.so");
        if (step == 2) folder.rename(built("hello-1", "hello"), "hello.so");
        if (step == 3) std::ofstream(folder.file("notes.txt")) << "nothing to see";
        if (step == 4) fs::remove(folder.file("notes.txt"));
        if (step == 5) setModified(folder.path(), {0, UTIME_NOW});
    };
    std::size_t descriptors = 0;
    std::size_t mappings = 0;
    std::size_t resident = 0;
    for (int step = 0; step < kTouches; ++step) {
        INFO("step " << step);
        touch(step % 6);
        // Once another module has come or gone, the scan has seen what happened before.
        const LogWatch log(gateway);
        if (step % 2 == 0) folder.rename(built("order-a", "order-a"), "order.so");
        else folder.remove("order.so");
        CHECK(eventually([&] {
            get(gateway.port(), "/http/a");
            return lastRequest(upstream).has("X-Order") == (step % 2 == 0);
        }));
        CHECK(log.count("hello: created") == 0);
        if (step == 5) {  // each of them once, and the other module is gone again
            descriptors = gateway.descriptors();
            mappings = gateway.mappings();
            resident = gateway.residentBytes();
        }
    }
    CHECK(eventually([&] { return gateway.descriptors() <= descriptors; }));
#ifndef WEIR_SANITIZED
    CHECK(gateway.mappings() <= mappings + kHeaps);
    CHECK(gateway.residentBytes() <= resident + kResidentMargin);
#else
    (void)mappings;  // the sanitizers' own grow
    (void)resident;
#endif
    const std::string all = gateway.process().output();
    const auto first = all.find("hello: created");
    REQUIRE(first != std::string::npos);
    CHECK(all.find("hello: created", first + 1) == std::string::npos);
    CHECK_THAT(all, !Catch::Contains("hello: destroyed"));
    CHECK(get(gateway.port(), "/http/a").count("X-Hello") == 1);
}

TEST_CASE("a request that sleeps in the old code while the module is replaced ends on it, and then the code is gone") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    const LogWatch log(gateway);
    std::vector<std::unique_ptr<RawClient>> sleepers;
    for (int i = 0; i < 8; ++i) {
        sleepers.push_back(std::make_unique<RawClient>(gateway.port()));
        sleepers.back()->send("GET /http/a HTTP/1.1\r\nHost: weir.test\r\nX-Sleep: 2000\r\n\r\n");
    }
    REQUIRE(eventually([&] { return log.count("hello: sleeping 1") == sleepers.size(); }));
    SECTION("replaced") {
        folder.rename(built("hello-2", "hello"), "hello.so");
        CHECK(becomes(gateway, "2"));
    }
    SECTION("removed") {
        folder.remove("hello.so");
        CHECK(becomes(gateway, "none"));
    }
    const std::size_t left = fs::exists(folder.file("hello.so")) ? 1 : 0;
    CHECK(log.count("hello: destroyed 1") == 0);
    CHECK(mappedHellos(gateway) == left + 1);
    for (auto& sleeper : sleepers) {
        const HttpMessage answer = sleeper->response();
        CHECK(answer.status() == 200);
        CHECK(answer.field("X-Hello") == "1");
        CHECK(answer.count("X-Hello") == 1);
    }
    log.waitFor({"hello: destroyed 1"});
    CHECK(eventually([&] { return mappedHellos(gateway) == left; }));
}

TEST_CASE("a client that goes away while its request sleeps in the old code does not keep that") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    const LogWatch log(gateway);
    {
        RawClient client(gateway.port());
        client.send("GET /http/a HTTP/1.1\r\nHost: weir.test\r\nX-Sleep: 600000\r\n\r\n");
        log.waitFor({"hello: sleeping 1"});
        folder.rename(built("hello-2", "hello"), "hello.so");
        CHECK(becomes(gateway, "2"));
        client.resetOnClose();
    }
    log.waitFor({"hello: destroyed 1"});
    CHECK(eventually([&] { return mappedHellos(gateway) == 1; }));
    CHECK(upstream.requests().size() > 0);
}

TEST_CASE("modules whose threads keep objects of theirs are replaced all the same, and the gateway ends cleanly") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    for (const std::string value : {"3", "4", "5"}) {
        folder.rename(built("hello-thread-local-" + value, "hello"), "hello.so");
        CHECK(becomes(gateway, value));
    }
    CHECK(mappedHellos(gateway) <= 3);
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a rule plugin's data waits for it with a warning, and the module finds it when it comes") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const std::string yaml = proxyTo(upstream.address()) + R"(  - name: greet
    selectors:
      - name: all
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/a}]
            handle: {text: moin}
)";
    GatewayProcess gateway(yaml, folder.arguments());
    CHECK_THAT(gateway.process().waitForLine("greet"), Catch::Contains("wait"));
    CHECK_FALSE(get(gateway.port(), "/http/a").has("X-Greet"));
    folder.copy(built("greet", "greet"), "greet.so");
    CHECK(eventually([&] { return get(gateway.port(), "/http/a").field("X-Greet") == "moin"; }));
    CHECK_FALSE(get(gateway.port(), "/http/b").has("X-Greet"));

    // A build that does not understand the data in force stays outside.
    const LogWatch log(gateway);
    folder.copy(built("greet-strict", "greet"), "greet.so");
    log.waitFor({"greet.so", "config_refused"});
    CHECK(get(gateway.port(), "/http/a").field("X-Greet") == "moin");

    // Gone and back again: the data has waited once more.
    folder.remove("greet.so");
    CHECK(eventually([&] { return !get(gateway.port(), "/http/a").has("X-Greet"); }));
    folder.copy(built("greet", "greet"), "greet.so");
    CHECK(eventually([&] { return get(gateway.port(), "/http/a").field("X-Greet") == "moin"; }));
}

TEST_CASE("GET /plugins lists a module of the directory while it is there") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    const auto plugins = [&] { return get(gateway.managementPort(), "/plugins").body; };
    CHECK_THAT(plugins(), Catch::Contains("divide") && !Catch::Contains("\"hello\""));
    folder.copy(built("hello-1", "hello"), "hello.so");
    CHECK(becomes(gateway, "1"));
    const std::string listed = plugins();
    const auto name = listed.find("\"hello\"");
    REQUIRE(name != std::string::npos);
    CHECK_THAT(listed.substr(name, listed.find('}', name) - name), Catch::Contains("\"state\""));
    folder.remove("hello.so");
    CHECK(becomes(gateway, "none"));
    CHECK(eventually([&] { return plugins().find("\"hello\"") == std::string::npos; }));
}
