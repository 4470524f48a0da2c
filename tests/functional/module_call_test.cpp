// What calls do to modules: reload, disable, enable, roll back, clear, validate, upload; and what they leave behind.
#include <fstream>

#include "functional/ext_folder.hpp"
#include "functional/module_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

std::size_t filesBelow(const fs::path& directory) {
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) files += entry.is_regular_file() ? 1 : 0;
    return files;
}

}  // namespace

TEST_CASE("calls that change modules need the token") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
    CHECK(call(gateway, "/plugins/hello:reload", "", "").status() == 401);
    CHECK(call(gateway, "/plugins:validate", "x", "Authorization: Bearer wrong\r\n").status() == 401);
    CHECK(call(gateway, "/plugins/hello:reload").status() == 404);
    CHECK(call(gateway, "/plugins/hello:explode").status() == 404);
    CHECK(get(gateway.managementPort(), "/plugins/hello:reload").status() == 401);
    const GatewayProcess closed(proxyTo(upstream.address()), folder.arguments());
    const auto answer = call(closed, "/plugins/hello:reload");
    CHECK(answer.status() == 403);
    CHECK_THAT(answer.body, Contains("weir.management.token"));
}

TEST_CASE("a module is disabled and enabled, loaded anew and rolled back by calls") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
    REQUIRE(hello(gateway) == "1");

    CHECK(call(gateway, "/plugins/hello:disable").status() == 200);
    CHECK(hello(gateway) == "none");
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("\"state\":\"disabled\""));
    folder.rename(built("hello-2", "hello"), "hello.so");  // it stays out whatever its file does
    CHECK(call(gateway, "/plugins/hello:enable").status() == 200);
    CHECK(hello(gateway) == "2");

    folder.rename(built("hello-1", "hello"), "hello.so");
    REQUIRE(becomes(gateway, "1"));
    CHECK(call(gateway, "/plugins/hello:reload").status() == 200);
    CHECK(hello(gateway) == "1");
    folder.rename(built("hello-2", "hello"), "hello.so");
    REQUIRE(becomes(gateway, "2"));
    CHECK(call(gateway, "/plugins/hello:rollback").status() == 200);
    CHECK(hello(gateway) == "1");
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("set_aside"));
    CHECK(call(gateway, "/plugins/hello:rollback").status() == 404);  // there is nothing before it
    CHECK(call(gateway, "/plugins/hello:clear").status() == 200);
    CHECK(hello(gateway) == "2");

    const std::string history = page(gateway, "/plugins/hello/history");
    for (const char* event : {"loaded", "disabled", "replaced", "rolled back"}) CHECK_THAT(history, Contains(event));
    CHECK(get(gateway.managementPort(), "/plugins/nobody/history").status() == 404);
    CHECK_THAT(page(gateway, "/actuator/prometheus"), Contains("weir_modules{module=\"hello\",state=\"active\"} 1\n"));
}

TEST_CASE("what was rolled back stays so over a restart, until its bytes change") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    {
        GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
        folder.rename(built("hello-2", "hello"), "hello.so");
        REQUIRE(becomes(gateway, "2"));
        REQUIRE(call(gateway, "/plugins/hello:rollback").status() == 200);
        CHECK(gateway.stop() == 0);
    }
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
    CHECK(hello(gateway) == "none");
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("set_aside") && Contains("rolled back: by call"));
    folder.rename(built("hello-1", "hello"), "hello.so");
    CHECK(becomes(gateway, "1"));
}

TEST_CASE("a new generation whose own errors pass the limit is rolled back by itself") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.rollbackErrors=5"}));
    folder.rename(built("hello-fails", "hello"), "hello.so");
    REQUIRE(eventually([&] { return get(gateway.port(), "/http/a").status() == 500; }));
    CHECK(eventually([&] {
        const auto answer = get(gateway.port(), "/http/a");
        return answer.status() == 200 && answer.field("X-Hello") == "1";
    }));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("rollbackErrors"));
}

TEST_CASE("requests that a module fails are counted while it serves") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-fails", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.rollbackErrors=0"}));
    for (const char* count : {"3", "6"}) {  // again, when nothing else happens to modules any more
        for (int i = 0; i < 3; ++i) CHECK(get(gateway.port(), "/http/a").status() == 500);
        const std::string shown = "\"failures\":" + std::string(count);
        CHECK(eventually([&] { return page(gateway, "/plugins/hello").find(shown) != std::string::npos; }));
        CHECK_THAT(page(gateway, "/actuator/prometheus"),
                   Contains("weir_module_failures{module=\"hello\"} " + std::string(count) + "\n"));
    }
}

TEST_CASE("what a gateway died of while it loaded it is set aside by the next one") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    {
        GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
        folder.rename(built("hello-dies", "hello"), "hello.so");
        CHECK(gateway.process().waitForExit() == 9);
    }
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
    CHECK(hello(gateway) == "none");
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("set_aside"));
    folder.rename(built("hello-1", "hello"), "hello.so");
    CHECK(becomes(gateway, "1"));
}

TEST_CASE("generations that stay in memory are replaced up to a limit") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.residentLimit=1"}));
    folder.rename(built("hello-thread-local-3", "hello"), "hello.so");
    REQUIRE(becomes(gateway, "3"));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("\"stays\":"));
    folder.rename(built("hello-thread-local-4", "hello"), "hello.so");
    REQUIRE(becomes(gateway, "4"));
    folder.rename(built("hello-thread-local-5", "hello"), "hello.so");
    CHECK(eventually([&] { return page(gateway, "/plugins/hello").find("resident_limit") != std::string::npos; }));
    CHECK(hello(gateway) == "4");
}

TEST_CASE("a required module keeps the gateway from being ready until it serves") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.required=hello"}));
    const auto health = get(gateway.managementPort(), "/actuator/health");
    CHECK(health.status() == 503);
    CHECK_THAT(health.body, Contains("\"WAITING\"") && Contains("\"missingModules\":[\"hello\"]"));
    folder.copy(built("hello-1", "hello"), "hello.so");
    CHECK(eventually([&] { return get(gateway.managementPort(), "/actuator/health").status() == 200; }));
}

TEST_CASE("--no-ext-plugins leaves the directory alone") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--no-ext-plugins"}));
    CHECK(hello(gateway) == "none");
    CHECK(call(gateway, "/plugins/hello:reload").status() == 503);
}

TEST_CASE("an extension serves a core module's key when the settings say so, and the core does again when it goes") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("other-divide", "other-divide"), "other-divide.so");
    const GatewayProcess gateway(proxyTo(upstream.address()),
                                 callArguments(folder, {"--extPlugin.replace=divide=other-divide"}));
    CHECK(hello(gateway) == "divide");  // it routes nowhere
    folder.remove("other-divide.so");
    CHECK(eventually([&] { return get(gateway.port(), "/http/a").status() == 200; }));
    CHECK(hello(gateway) == "none");
}

TEST_CASE("validating says what loading would say, and loads nothing") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
    const auto good = call(gateway, "/plugins:validate", bytesOf(built("hello-1", "hello")));
    CHECK(good.status() == 200);
    CHECK_THAT(good.body, Contains("\"valid\":true"));
    const auto bad = call(gateway, "/plugins:validate", bytesOf(built("hello-throws", "hello")));
    CHECK_THAT(bad.body, Contains("\"valid\":false") && Contains("create_failed") && Contains("no licence"));
    CHECK_THAT(call(gateway, "/plugins:validate", "text").body, Contains("not_elf"));
    CHECK(hello(gateway) == "none");
    CHECK(gateway.mappedFiles("/hello-").empty());
}

TEST_CASE("behaviour follows the last module that was uploaded, up or down (A04)") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.upload=true"}));
    for (const char* value : {"1", "2", "1", "1"}) {
        INFO(value);
        const auto answer = upload(gateway, base64(bytesOf(built(std::string("hello-") + value, "hello"))));
        CHECK(answer.body == "success");
        CHECK(hello(gateway) == value);
    }
    CHECK_THAT(page(gateway, "/actuator/pluginData"), !Contains("f0VM"));  // the bytes are no data
}

TEST_CASE("an upload that is no module says why, and changes nothing (A07)") {
    struct Row {
        const char* what;
        std::string jar;
        const char* part;
    };
    std::string wrongMachine = bytesOf(built("hello-1", "hello"));
    wrongMachine[18] = 40;  // e_machine: EM_ARM
    const Row rows[] = {
        {"empty", "", "pluginJar"},
        {"broken base64", "a$b=", "'$'"},
        {"a text", base64("hello"), "not_elf"},
        {"one byte", base64("x"), "not_elf"},
        {"another machine", base64(wrongMachine), "wrong_machine"},
        {"no entry symbol", base64(bytesOf(fs::path(WEIR_BAD_MODULES) / "missing-symbol/bad-missing-symbol.so")),
         "missing_symbol"},
        {"30 MB", std::string(40'000'000, 'A'), ""},
    };
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const TempDirectory staging;
    const GatewayProcess gateway(
        proxyTo(upstream.address()),
        callArguments(folder, {"--extPlugin.upload=true", "--extPlugin.staging=" + staging.path().string()}));
    REQUIRE(upload(gateway, base64(bytesOf(built("hello-1", "hello")))).body == "success");
    const std::size_t staged = filesBelow(staging.path());
    REQUIRE(staged > 0);
    for (const Row& row : rows) {
        INFO(row.what);
        const auto answer = upload(gateway, row.jar);
        CHECK(answer.status() >= 400);
        CHECK(answer.status() < 500);
        CHECK_THAT(answer.body, Contains(row.part));
        CHECK(hello(gateway) == "1");
    }
    CHECK(eventually([&] { return filesBelow(staging.path()) == staged; }));
    for (const auto& entry : fs::directory_iterator(folder.path())) {
        const std::string name = entry.path().filename().string();
        CHECK((name == "hello.so" || name.starts_with(".weir-ledger")));
    }
}

TEST_CASE("the commands check, why and install do what a gateway would") {
    const ExtFolder folder;
    const std::string good = built("hello-1", "hello").string();
    const std::string bad = built("hello-throws", "hello").string();
    const auto run = [&](const std::string& verb, const std::string& file) {
        return runToEnd(WEIR_BINARY, {"plugin", verb, file, "--extPlugin.path=" + folder.path().string()});
    };
    CHECK(run("check", good).exitCode == 0);
    const auto refused = run("check", bad);
    CHECK(refused.exitCode == 65);
    CHECK_THAT(refused.output, Contains("create_failed") && Contains("no licence"));
    const auto why = run("why", bad);
    CHECK(why.exitCode == 0);
    CHECK_THAT(why.output, Contains("would be refused") && Contains("Plugin hello, order -100") &&
                               Contains("libstdc++.so.6") && Contains("create_failed"));
    CHECK(run("install", bad).exitCode == 65);
    CHECK_FALSE(fs::exists(folder.file("hello.so")));
    CHECK(run("install", good).exitCode == 0);
    CHECK(bytesOf(folder.file("hello.so")) == bytesOf(good));
    CHECK(runToEnd(WEIR_BINARY, {"plugin", "check"}).exitCode == 64);
}

TEST_CASE("a directory that everybody may write to is no place for modules") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    folder.copy(built("hello-1", "hello"), "hello.so");
    fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::add);
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder));
    CHECK(hello(gateway) == "none");
    CHECK_THAT(page(gateway, "/plugins"), Contains("writable_path"));
    fs::permissions(folder.path(), fs::perms::others_write, fs::perm_options::remove);
    CHECK(call(gateway, "/plugins/hello:clear").status() == 200);
    CHECK(hello(gateway) == "1");
}
