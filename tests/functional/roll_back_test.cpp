// Roll-backs whose older generation does not take the data in force any more: nothing is lost.
#include "functional/ext_folder.hpp"
#include "functional/local_caller.hpp"
#include "functional/module_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

// The only rule of greet, by call.
void sayText(const GatewayProcess& gateway, const std::string& text) {
    const Entry rule{"greet/all/all", {uri("pathPattern", "/http/**")}, "{\"text\":\"" + text + "\"}", "greet"};
    LocalCaller(gateway, kUploadKey).rule(rule.rule("greet/all"));
}

std::string greeting(const GatewayProcess& gateway) {
    const HttpMessage answer = get(gateway.port(), "/http/a");
    return answer.status() == 200 ? answer.field("X-Greet").value_or("none") : std::to_string(answer.status());
}

// A gateway whose greet takes any text, after a generation that takes but one; the text has changed since.
struct Replaced {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway;

    explicit Replaced(const std::string& build)
        : gateway(proxyWithRule(upstream.address(), "greet", "{text: hello}"),
                  callArguments(folder, {"--extPlugin.rollbackErrors=5"})) {
        folder.rename(built("greet-strict", "greet"), "greet.so");
        REQUIRE(shows(gateway, "/plugins/greet", "\"generation\":1"));
        folder.rename(built(build, "greet"), "greet.so");
        REQUIRE(shows(gateway, "/plugins/greet", "\"generation\":2"));
        sayText(gateway, "moin");
    }
};

}  // namespace

TEST_CASE("a roll-back to a generation that refuses the data in force names the record, and what serves serves on") {
    Replaced all("greet");
    GatewayProcess& gateway = all.gateway;
    REQUIRE(greeting(gateway) == "moin");
    const LogWatch log(gateway);
    for (int i = 0; i < 2; ++i) {  // the second time the older one is still there
        const HttpMessage answer = call(gateway, "/plugins/greet:rollback");
        CHECK(answer.status() == 409);
        CHECK_THAT(answer.body, Contains("config_refused: plugin 'greet', rule 'greet/all/all name', handle is "
                                         "refused: text: expected one of hello, found 'moin'"));
        CHECK(greeting(gateway) == "moin");
    }
    log.waitFor({"module greet is not rolled back (by call), generation 2 serves on", "config_refused"});
    CHECK_THAT(page(gateway, "/plugins/greet"),
               Contains("\"state\":\"active\"") && Contains("\"generation\":2") &&
                   Contains("\"rollbackRefused\":{\"code\":\"config_refused\"") && Contains("\"refused\":[]"));
    CHECK_THAT(page(gateway, "/plugins"), Contains("\"rollbackRefused\":\"config_refused: plugin 'greet', rule"));
    CHECK_THAT(page(gateway, "/plugins/greet/history"), Contains("\"event\":\"roll-back refused\""));
    CHECK(eventually([&] { return gateway.mappedFiles("/greet-").size() == 1; }));

    sayText(gateway, "hello");
    CHECK(call(gateway, "/plugins/greet:rollback").status() == 200);
    CHECK(greeting(gateway) == "hello");
    CHECK_THAT(page(gateway, "/plugins/greet"),
               Contains("\"generation\":3") && !Contains("rollbackRefused") && Contains("set_aside"));
}

TEST_CASE("a failing generation that can not be rolled back serves on and shows why, until a call does it") {
    Replaced all("greet-fails");
    GatewayProcess& gateway = all.gateway;
    const LogWatch log(gateway);
    for (int i = 0; i < 8; ++i) CHECK(greeting(gateway) == "500");
    log.waitFor({"module greet is not rolled back (its own errors passed extPlugin.rollbackErrors)",
                 "generation 2 serves on", "config_refused", "rule 'greet/all/all name'"});
    CHECK(greeting(gateway) == "500");
    CHECK_THAT(page(gateway, "/plugins/greet"),
               Contains("\"state\":\"active\"") && Contains("\"generation\":2") && Contains("\"rollbackRefused\":{"));
    CHECK_THAT(page(gateway, "/actuator/prometheus"), Contains("weir_modules{module=\"greet\",state=\"active\"} 1\n"));

    sayText(gateway, "hello");
    CHECK(call(gateway, "/plugins/greet:rollback").status() == 200);
    CHECK(greeting(gateway) == "hello");
    CHECK(log.count("is not rolled back") == 1);
}

TEST_CASE("a failing module with nothing to go back to is taken out, and its bytes are set aside") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {"--extPlugin.rollbackErrors=5"}));
    folder.rename(built("hello-fails", "hello"), "hello.so");
    REQUIRE(eventually([&] { return get(gateway.port(), "/http/a").status() == 500; }));
    for (int i = 0; i < 8; ++i) get(gateway.port(), "/http/a");
    CHECK(eventually([&] { return get(gateway.port(), "/http/a").status() == 200; }));
    CHECK_THAT(page(gateway, "/plugins/hello"), Contains("\"state\":\"refused\"") && Contains("set_aside") &&
                                                    Contains("rollbackErrors"));
    CHECK(call(gateway, "/plugins/hello:rollback").status() == 404);
}
