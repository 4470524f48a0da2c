// Modules that give conditions new words: operators, parameter types, match modes. They come and go while data names
// them.
#include <algorithm>

#include "functional/ext_folder.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/request_load.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

fs::path sample(const std::string& id) { return fs::path(WEIR_TEST_SAMPLES) / (id + ".so"); }

// One rule for each sample, beside one that always matches; which one did says the upstream's path.
std::string yaml(const std::string& upstream) {
    const auto selector = [](const std::string& name, const std::string& rest) {
        return "      - {name: " + name + ", " + rest + ", rules: [{name: r, handle: {addPrefix: /" + name + "}}]}\n";
    };
    return "plugins:\n  - name: contextPath\n    selectors:\n" +
           selector("near", "conditions: [{paramType: uri, operator: startsWith, paramValue: /ip}, "
                            "{paramType: ip, operator: ipRange, paramValue: \"10.0.0.0/8, 127.0.0.0/8\"}]") +
           selector("acme", "conditions: [{paramType: uri, operator: startsWith, paramValue: /tenant}, {paramType: tenant, "
                            "paramName: shop.example, operator: \"=\", paramValue: acme}]") +
           selector("most", "matchMode: majority, conditions: [{paramType: uri, operator: startsWith, paramValue: "
                            "/majority}, {paramType: req_method, operator: \"=\", paramValue: GET}, {paramType: "
                            "header, paramName: x-none, operator: \"=\", paramValue: x}]") +
           selector("any", "type: 0") +
           "  - name: divide\n    selectors:\n      - {name: s, type: 0, handle: [{upstreamUrl: \"" + upstream +
           "\"}], rules: [{name: r}]}\n";
}

// The first segment that the upstream is asked for.
std::string prefixOf(const GatewayProcess& gateway, const RecordingUpstream& upstream, const std::string& path) {
    const auto answer = RawClient(gateway.port()).exchange("GET " + path + " HTTP/1.1\r\nHost: Acme.shop.example\r\n\r\n");
    if (answer.status() != 200) return "status " + std::to_string(answer.status());
    const auto requests = upstream.requests();
    const auto last = std::find_if(requests.rbegin(), requests.rend(), [&](const HttpMessage& request) {
        return request.startLine.find(path + " ") != std::string::npos;  // others come meanwhile
    });
    if (last == requests.rend()) return "none";
    const std::string line = last->startLine;  // GET /near/ip/x HTTP/1.1
    return line.substr(5, line.find('/', 5) - 5);
}

struct Row {
    const char* module;
    const char* path;
    const char* selector;  // that comes alive
    const char* waitsFor;
};
constexpr Row kRows[] = {
    {"ip-range-operator", "/ip/x", "near", "ipRange"},
    {"tenant-parameter", "/tenant/x", "acme", "tenant"},
    {"majority-strategy", "/majority/x", "most", "majority"},
};

}  // namespace

TEST_CASE("a condition's word that a dropped module brings makes what waits for it match, until the module goes") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(yaml(upstream.address()), folder.arguments());
    for (const Row& row : kRows) {
        INFO(row.module);
        const std::string file = std::string(row.module) + ".so";
        CHECK_THAT(gateway.process().output(), Contains(row.waitsFor));  // warned about at the start
        const auto dump = [&] { return get(gateway.managementPort(), "/actuator/selectorData").body; };
        CHECK(prefixOf(gateway, upstream, row.path) == "any");
        CHECK_THAT(dump(), Contains(std::string("\"waiting\":\"") ) && Contains(std::string("'") + row.waitsFor + "'"));
        for (int round = 0; round < 2; ++round) {
            folder.rename(sample(row.module), file);
            CHECK(eventually([&] { return prefixOf(gateway, upstream, row.path) == row.selector; }));
            CHECK_THAT(dump(), !Contains(std::string("'") + row.waitsFor + "'"));
            CHECK_THAT(get(gateway.managementPort(), "/spi").body, Contains(row.waitsFor));
            folder.remove(file);
            CHECK(eventually([&] { return prefixOf(gateway, upstream, row.path) == "any"; }));
            CHECK_THAT(dump(), Contains(std::string("'") + row.waitsFor + "'"));
            CHECK(eventually([&] { return gateway.mappedFiles(row.module).empty(); }));
        }
    }
}

TEST_CASE("modules for conditions come and go under load without a failed request") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    GatewayProcess gateway(yaml(upstream.address()), folder.arguments());
    RequestLoad load(gateway.port(), "GET /ip/load HTTP/1.1\r\nHost: acme.shop.example\r\n\r\n");
    for (int round = 0; round < 5; ++round) {
        for (const Row& row : kRows) folder.rename(sample(row.module), std::string(row.module) + ".so");
        for (const Row& row : kRows)
            CHECK(eventually([&] { return prefixOf(gateway, upstream, row.path) == row.selector; }));
        for (const Row& row : kRows) {  // all at one time would look like a lost directory
            folder.remove(std::string(row.module) + ".so");
            CHECK(eventually([&] { return prefixOf(gateway, upstream, row.path) == "any"; }));
        }
    }
    load.stop();
    CHECK(load.answers() > 0);
    CHECK(load.failures().empty());
}

TEST_CASE("an operator's module that refuses a paramValue in force does not come in, and a call with a bad one is 400") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    std::string bad = yaml(upstream.address());
    bad.replace(bad.find("10.0.0.0/8"), 10, "10.0.0.0/x");
    GatewayProcess gateway(bad, folder.arguments());
    const LogWatch log(gateway);
    folder.rename(sample("ip-range-operator"), "ip-range-operator.so");
    log.waitFor({"ip-range-operator", "refused", "10.0.0.0/x"});
    CHECK(prefixOf(gateway, upstream, "/ip/x") == "any");
    CHECK_THAT(get(gateway.managementPort(), "/plugins/ip-range-operator").body, Contains("config_refused"));
}
