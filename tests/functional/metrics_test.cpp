// What /actuator/prometheus counts of requests, against what was sent.
#include <chrono>
#include <map>
#include <sstream>
#include <string>

#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/temp_directory.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

using Samples = std::map<std::string, double>;  // by name with labels

std::string page(const GatewayProcess& gateway) { return get(gateway.managementPort(), "/actuator/prometheus").body; }

Samples samples(const GatewayProcess& gateway) {
    Samples found;
    std::istringstream lines(page(gateway));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t space = line.rfind(' ');
        if (!line.empty() && line[0] != '#') found[line.substr(0, space)] = std::stod(line.substr(space + 1));
    }
    return found;
}

// A request is counted when its response is written, which may be after the client has read it. Waits until all these
// samples are there, and says what differs.
std::string differences(const GatewayProcess& gateway, const Samples& expected) {
    std::string differing;
    eventually([&] {
        differing.clear();
        const Samples now = samples(gateway);
        for (const auto& [name, value] : expected) {
            const auto found = now.find(name);
            if (found != now.end() && found->second == value) continue;
            differing += name + " is " + (found == now.end() ? "missing" : std::to_string(found->second)) + ", not " +
                         std::to_string(value) + "\n";
        }
        return differing.empty();
    });
    return differing;
}

std::string requests(const std::string& status) { return "weir_requests_total{status=\"" + status + "\"}"; }
std::string entered(const std::string& plugin) { return "weir_plugin_entered_total{plugin=\"" + plugin + "\"}"; }
std::string outcome(const std::string& plugin, const std::string& what) {
    return "weir_plugin_outcomes_total{plugin=\"" + plugin + "\",outcome=\"" + what + "\"}";
}

}  // namespace

TEST_CASE("metrics count requests by status and by what plugins made of them, over all loops") {
    const RecordingUpstream upstream([](const HttpMessage& request) {
        if (request.startLine.find("/moved") == std::string::npos) return RecordingUpstream::ok("ok");
        return std::string("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n");
    });
    const GatewayProcess gateway(proxyTo(upstream.address()), {"--server.threads=2"});
    for (int i = 0; i < 5; ++i) CHECK(get(gateway.port(), "/http/a").status() == 200);
    for (int i = 0; i < 2; ++i) CHECK(get(gateway.port(), "/http/moved").status() == 302);
    for (int i = 0; i < 3; ++i) CHECK(get(gateway.port(), "/elsewhere").status() == 404);
    CHECK(RawClient(gateway.port()).exchange("GET / HTTP/1.1\r\n\r\n").status() == 400);

    CHECK(differences(gateway, {{requests("1xx"), 0},
                                {requests("2xx"), 5},
                                {requests("3xx"), 2},
                                {requests("4xx"), 4},
                                {requests("5xx"), 0},
                                {requests("other"), 0},
                                {requests("none"), 0},
                                {"weir_requests_aborted_total", 0},
                                {"weir_requests_running", 0},
                                {"weir_request_duration_seconds_count", 11},
                                {"weir_request_duration_seconds_bucket{le=\"+Inf\"}", 11},
                                {"weir_client_connections_accepted_total", 11},
                                {entered("global"), 10},
                                {outcome("global", "forwarded"), 10},
                                {entered("divide"), 7},
                                {outcome("divide", "forwarded"), 7},
                                {"weir_plugin_unmatched_total{plugin=\"divide\"}", 3},
                                {entered("httpClient"), 7},
                                {outcome("httpClient", "forwarded"), 7},
                                {outcome("httpClient", "failed"), 0}}) == "");
    const Samples now = samples(gateway);
    CHECK(now.at("weir_upstream_connections_opened_total") + now.at("weir_upstream_connections_reused_total") == 7);
    CHECK(now.at("weir_upstream_connections_opened_total") == upstream.connections());
    CHECK(now.at("weir_upstream_connections_idle") == now.at("weir_upstream_connections"));
    CHECK(now.at("weir_loop_lag_seconds_count") > 0);
}

TEST_CASE("metrics count what fails, what runs and what is broken off") {
    Gate gate;
    const RecordingUpstream upstream([&](RecordingUpstream::Connection& connection) {
        if (connection.next()) gate.wait();
    });
    const GatewayProcess gateway(proxyTo(upstream.address()));
    {
        RawClient client(gateway.port());
        client.send("GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n");
        REQUIRE(upstream.waitForRequests(1));
        CHECK(differences(gateway, {{"weir_requests_running", 1},
                                    {"weir_client_connections", 1},
                                    {"weir_upstream_connections", 1},
                                    {"weir_upstream_connections_idle", 0},
                                    {entered("httpClient"), 1},
                                    {outcome("httpClient", "dropped"), 0}}) == "");
        client.resetOnClose();
    }
    CHECK(differences(gateway, {{requests("none"), 1},
                                {"weir_requests_aborted_total", 1},
                                {"weir_requests_running", 0},
                                {"weir_client_connections", 0},
                                {"weir_upstream_connections", 0},
                                {"weir_request_duration_seconds_count", 0},
                                {outcome("httpClient", "dropped"), 1}}) == "");
    gate.open();
    CHECK(get(gateway.port(), "/http/a").status() == 502);
    CHECK(differences(gateway, {{requests("5xx"), 1}, {outcome("response", "replied"), 1}}) == "");
}

TEST_CASE("promtool finds nothing to complain of in the metrics") {
    const RecordingUpstream upstream;
    const GatewayProcess gateway(proxyTo(upstream.address()));
    CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(get(gateway.managementPort(), "/actuator/prometheus").field("Content-Type") ==
          "text/plain; version=0.0.4; charset=utf-8");
    const TempDirectory directory;
    const std::string file = directory.write("metrics", page(gateway));
    const Finished checked = runToEnd("/bin/sh", {"-c", "promtool check metrics < " + file});
    CHECK(checked.output == "");
    CHECK(checked.exitCode == 0);  // 127: there is no promtool, of Debian's package prometheus
}
