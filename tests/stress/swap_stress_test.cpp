// Modules that come, change and go again and again while requests run and wait inside them.
#include <memory>

#include "functional/ext_folder.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/request_load.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

// Tells what the request was marked with on its way in; keeps nothing, there will be many.
const RecordingUpstream::Serve kEcho = [](RecordingUpstream::Connection& connection) {
    while (const auto request = connection.message())
        connection.send(RecordingUpstream::ok("ok", "X-Seen: " + request->field("X-Witness").value_or("none") + "\r\n"));
};

// What marked a request going in marked it coming back, once.
std::string oneGeneration(const HttpMessage& answer) {
    const std::string in = answer.field("X-Seen").value_or("nothing");
    const std::string out = answer.field("X-Witness-Back").value_or("none");
    return in == out && answer.count("X-Witness-Back") <= 1 ? "" : answer.raw;
}

std::string witness(const GatewayProcess& gateway) {
    return get(gateway.port(), "/http/a").field("X-Witness-Back").value_or("none");
}

std::size_t mapped(const GatewayProcess& gateway) { return gateway.mappedFiles("/witness-").size(); }

// Half of the requests wait inside the module for longer than a swap takes.
void swapUnderLoad(int rounds) {
    const RecordingUpstream upstream(kEcho);
    const ExtFolder folder;
    std::vector<std::string> arguments = folder.arguments();
    arguments.push_back("--extPlugin.settleMs=5");
    const GatewayProcess gateway(proxyTo(upstream.address()), arguments);
    const std::string plain = "GET /http/a HTTP/1.1\r\nHost: weir.test\r\n";
    RequestLoad quick(gateway.port(), plain + "\r\n", 4, oneGeneration);
    RequestLoad slow(gateway.port(), plain + "X-Sleep: 50\r\n\r\n", 4, oneGeneration);
    std::size_t mappings = 0;
    std::size_t resident = 0;
    for (int round = 0; round < rounds; ++round) {
        INFO("round " << round);
        folder.rename(built("witness-1", "witness"), "witness.so");
        REQUIRE(eventually([&] { return witness(gateway) == "1"; }));
        folder.rename(built("witness-2", "witness"), "witness.so");
        REQUIRE(eventually([&] { return witness(gateway) == "2"; }));
        folder.remove("witness.so");
        REQUIRE(eventually([&] { return witness(gateway) == "none"; }));
        if (round != 2) continue;
        REQUIRE(eventually([&] { return mapped(gateway) == 0; }));
        mappings = gateway.mappings();
        resident = gateway.residentBytes();
    }
    quick.stop();
    slow.stop();
    CHECK(quick.failures() == std::vector<std::string>());
    CHECK(slow.failures() == std::vector<std::string>());
    CHECK(eventually([&] { return mapped(gateway) == 0; }));
#ifndef WEIR_SANITIZED  // whose runtimes map memory of their own
    CHECK(gateway.mappings() <= mappings + 16);  // a thread's heap now and then
    CHECK(gateway.residentBytes() <= resident + (4 << 20));
#endif
    WARN(rounds << " rounds of three swaps, " << quick.answers() + slow.answers() << " answers, resident " << resident
                << " -> " << gateway.residentBytes() << ", mappings " << mappings << " -> " << gateway.mappings());
}

}  // namespace

TEST_CASE("modules swap under load with half of the requests waiting inside them, and no request fails") {
#ifdef WEIR_SANITIZED
    swapUnderLoad(10);
#else
    swapUnderLoad(40);
#endif
}

TEST_CASE("a thousand swaps", "[.big]") { swapUnderLoad(334); }
