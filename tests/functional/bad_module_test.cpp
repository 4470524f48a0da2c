// A directory full of modules that must not, or may, be loaded: each is refused with its code, or serves, and whatever it
// is the gateway goes on.
#include <algorithm>
#include <fstream>

#include "functional/ext_folder.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;

namespace {

struct BadModule {
    std::string name;
    fs::path file;
    std::string expected;  // a refusal's code, "loads" or "loads_resident"
};

std::vector<BadModule> corpus() {
    std::vector<BadModule> modules;
    for (const auto& entry : fs::directory_iterator(WEIR_BAD_MODULES)) {
        std::ifstream expected(entry.path() / "expected");
        BadModule module{entry.path().filename().string(), {}, {}};
        if (!(expected >> module.expected)) continue;
        module.file = entry.path() / ("bad-" + module.name + ".so");
        modules.push_back(std::move(module));
    }
    std::ranges::sort(modules, {}, &BadModule::name);
    return modules;
}

std::string page(const GatewayProcess& gateway, const std::string& path) {
    return get(gateway.managementPort(), path).body;
}

// What the management port says of a file: its state and, when it is refused, the code; "" while it says nothing.
std::string verdict(const GatewayProcess& gateway, const std::string& file) {
    const std::string rows = page(gateway, "/plugins");
    const std::size_t at = rows.find("/" + file + "\"");
    if (at == std::string::npos) return "";
    const std::size_t begin = rows.rfind('{', at);
    const std::string row = rows.substr(begin, rows.find('}', at) - begin);
    if (row.find("\"state\":\"active\"") != row.npos) return "active";
    const std::string mark = "\"reason\":\"";
    const std::size_t reason = row.find(mark);
    if (reason == row.npos) return "";
    return row.substr(reason + mark.size(), row.find(':', reason + mark.size()) - reason - mark.size());
}

}  // namespace

TEST_CASE("each bad module is refused with its code, each odd one serves, and the gateway goes on") {
    const std::vector<BadModule> modules = corpus();
    REQUIRE(modules.size() > 40);
    const RecordingUpstream upstream;
    const ExtFolder folder;
    std::vector<std::string> arguments = folder.arguments();
    for (const char* more : {"--extPlugin.settleMs=5", "--extPlugin.probeTimeout=2s"}) arguments.emplace_back(more);
    GatewayProcess gateway(proxyTo(upstream.address()), arguments);
    // It serves a key that one of them claims.
    folder.rename(fs::path(WEIR_BAD_MODULES) / "larger-table" / "bad-larger-table.so", "bad-larger-table.so");
    REQUIRE(eventually([&] { return verdict(gateway, "bad-larger-table.so") == "active"; }));
    // What code of a module says in the gateway itself: only after its trial.
    const std::string runsHere = "bad module runs in " + std::to_string(gateway.process().pid());
    gateway.process().waitForLine(runsHere);
    const std::size_t descriptors = gateway.descriptors();
    const std::string targets = gateway.descriptorTargets();
    for (const BadModule& module : modules) {
        if (module.name == "larger-table") continue;
        INFO(module.name << ", expected " << module.expected);
        const std::string name = module.file.filename().string();
        const bool loads = module.expected.starts_with("loads");
        const LogWatch log(gateway);
        folder.rename(module.file, name);
        std::string seen;
        CHECK(eventually([&] { return !(seen = verdict(gateway, name)).empty(); }));
        CHECK(seen == (loads ? "active" : module.expected));
        log.waitFor({"module ", name, loads ? " serves: " : " is refused: "});  // what it said itself is there by then
        // One that fails its requests spoils them, not the gateway.
        CHECK(get(gateway.port(), "/http/a").status() == (module.name == "hooks-throw" ? 500 : 200));
        if (module.name == "libcxx") CHECK(get(gateway.port(), "/http/a").field("X-Odd") == "libcxx");
        if (!loads) CHECK(log.count(runsHere) == 0);
        folder.remove(name);
        CHECK(eventually([&] { return verdict(gateway, name).empty(); }));
        const std::string copy = "/bad-" + module.name + "-";
        if (module.expected == "loads") CHECK(eventually([&] { return gateway.mappedFiles(copy).empty(); }));
        if (module.expected == "loads_resident") CHECK_FALSE(gateway.mappedFiles(copy).empty());
    }
    const bool givenBack = eventually([&] { return gateway.descriptors() <= descriptors + kThreadsOwn; });
    INFO("before:\n" << targets << "after:\n" << gateway.descriptorTargets());
    CHECK(givenBack);
    CHECK(gateway.stop() == 0);
}

TEST_CASE("a module that is cut anywhere is refused or, cut behind what is loaded, serves") {
    const RecordingUpstream upstream;
    const ExtFolder folder;
    std::vector<std::string> arguments = folder.arguments();
    arguments.emplace_back("--extPlugin.settleMs=5");
    const GatewayProcess gateway(proxyTo(upstream.address()), arguments);
    const std::string whole = bytesOf(built("hello-1", "hello"));
    const std::size_t needed = loadableSize(whole);
    for (std::size_t size = 0; size < whole.size(); size += whole.size() / 24 + 1) {
        INFO(size << " of " << whole.size() << " bytes, " << needed << " are loaded");
        folder.renameBytes(whole.substr(0, size), "hello.so");
        std::string seen;
        CHECK(eventually([&] { return !(seen = verdict(gateway, "hello.so")).empty(); }));
        CHECK((seen == "active") == (size >= needed));
        CHECK(get(gateway.port(), "/http/a").status() == 200);
        folder.remove("hello.so");
        CHECK(eventually([&] { return verdict(gateway, "hello.so").empty(); }));
    }
}
