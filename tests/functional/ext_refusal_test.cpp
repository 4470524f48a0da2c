// What must not get in: files that are no modules, broken ones, and ones that claim what others provide.
#include <fstream>

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

constexpr const char* kRequest = "GET /http/a HTTP/1.1\r\nHost: weir.test\r\n\r\n";

// One whose answers all show the build 1 of hello.
std::string showsOne(const HttpMessage& answer) {
    return answer.field("X-Hello") == "1" && answer.count("X-Hello") == 1 ? "" : answer.raw;
}
std::string showsOneOrTwo(const HttpMessage& answer) {
    const auto value = answer.field("X-Hello");
    return (value == "1" || value == "2") && answer.count("X-Hello") == 1 ? "" : answer.raw;
}

bool becomes(const GatewayProcess& gateway, const std::string& value) {
    return eventually([&] { return get(gateway.port(), "/http/a").field("X-Hello") == value; });
}

// Answers without keeping what it got: there will be many requests.
const RecordingUpstream::Serve kForgetful = [](RecordingUpstream::Connection& connection) {
    while (connection.message()) connection.send(RecordingUpstream::ok("ok"));
};

std::string replaced(std::string bytes, const std::string& what, const std::string& with) {
    const auto at = bytes.find(what);
    REQUIRE(at != std::string::npos);
    REQUIRE(what.size() == with.size());
    return bytes.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("a file that is no good module is refused by name with the reason, and the good one serves on") {
    const std::string good = bytesOf(built("hello-2", "hello"));
    struct Row {
        std::string what;
        std::string bytes;
        std::string reason;  // in the line that names the file
    };
    std::vector<Row> rows = {
        {"a text", "this is no module\n", ""},
        {"nothing", "", ""},
        {"one byte", "\x7f", ""},
        {"a constructor that fails", bytesOf(built("hello-throws", "hello")), "hello has no licence"},
        {"a newer ABI", replaced(good, "\"abi\":1", "\"abi\":7"), "ABI is 7, expected 1"},
        {"ABI 0", replaced(good, "\"abi\":1", "\"abi\":0"), "abi"},
        {"no ABI", replaced(good, "\"abi\":1", "\"abx\":1"), "abi"},
        {"another machine", good.substr(0, 18) + '\x28' + good.substr(19), ""},
    };
    for (std::size_t tenth = 1; tenth < 10; ++tenth) {
        const std::size_t size = loadableSize(good) * tenth / 10;
        rows.push_back({std::to_string(size) + " bytes of a module", good.substr(0, size), ""});
    }
    const RecordingUpstream upstream(kForgetful);
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    RequestLoad load(gateway.port(), kRequest, 2, showsOne);
    for (const Row& row : rows) {
        INFO(row.what);
        const LogWatch log(gateway);
        folder.renameBytes(row.bytes, "hello.so");  // in place of one that serves
        CHECK_NOTHROW(log.waitFor({folder.file("hello.so").string(), "refused", row.reason}));
        CHECK(load.waitForRound());
        folder.renameBytes(row.bytes, "x.so");  // and beside it, where its id is a reason as well
        CHECK_NOTHROW(log.waitFor({folder.file("x.so").string(), "refused"}));
        CHECK(load.waitForRound());
    }
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
    folder.remove("x.so");
    folder.renameBytes(good, "hello.so");
    CHECK(becomes(gateway, "2"));
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a bad file does not keep the good ones of the same scan out") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    std::ofstream(folder.file("a.so")) << "this is no module\n";
    folder.copy(built("hello-throws", "hello"), "b.so");
    folder.copy(built("order-a", "order-a"), "c.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(lastRequest(upstream).field("X-Order") == "a");
}

TEST_CASE("a module that is overwritten in place serves on until a complete new one is there") {
    const RecordingUpstream upstream(kForgetful);
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    RequestLoad load(gateway.port(), kRequest, 4, showsOneOrTwo);
    REQUIRE(load.waitForRound());
    for (const std::string value : {"2", "1", "2"}) {
        folder.copy(built("hello-" + value, "hello"), "hello.so");
        CHECK(becomes(gateway, value));

        const LogWatch log(gateway);
        fs::resize_file(folder.file("hello.so"), 0);
        log.waitFor({"hello.so"});
        CHECK(load.waitForRound());
        CHECK(becomes(gateway, value));
    }
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a module that claims a running plugin's key is refused with both paths, and the running one stays") {
    const RecordingUpstream upstream(kForgetful);
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments());
    RequestLoad load(gateway.port(), kRequest, 2, showsOne);
    const LogWatch log(gateway);
    SECTION("one of the directory") {
        folder.rename(built("twin", "twin"), "a-twin.so");
        log.waitFor({folder.file("a-twin.so").string(), folder.file("hello.so").string(), "hello"});
        CHECK(load.waitForRound());
    }
    SECTION("one of the core") {
        folder.rename(built("other-divide", "other-divide"), "a-newcomer.so");
        log.waitFor({folder.file("a-newcomer.so").string(), "core", "divide"});
        CHECK(load.waitForRound());
    }
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
    CHECK(log.count("hello: created") == 0);
}

TEST_CASE("a constructor that takes its time holds up no request") {
    const RecordingUpstream upstream(kForgetful);
    const ExtFolder folder;
    const TempDirectory directory;
    folder.copy(built("hello-1", "hello"), "hello.so");
    GatewayProcess gateway(proxyTo(upstream.address()), folder.arguments(),
                           {"WEIR_TEST_GATE=" + (directory.path() / "gate").string()});
    const LogWatch log(gateway);
    folder.rename(built("hello-slow", "hello"), "hello.so");
    log.waitFor({"hello: creating slow"});
    CHECK(get(gateway.port(), "/http/a").field("X-Hello") == "1");
    CHECK(log.count("hello: created slow") == 0);
    directory.write("gate", "");
    CHECK(becomes(gateway, "slow"));
}
