// The same bytes to Weir, nginx and HAProxy, each beside what is recorded for it in corpus.txt; every disagreement has
// our reason, and Weir is nowhere the lenient one without a word why that is safe. To write what nginx and HAProxy do
// into the corpus, and the report anew: WEIR_DIFFERENTIAL_REWRITE=1 differential_test.
#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "functional/differential/observation.hpp"
#include "functional/differential/report.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/haproxy_server.hpp"
#include "support/nginx_server.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

const std::string kPatience = std::to_string(kPatienceSeconds) + "s";

bool rewriting() { return std::getenv("WEIR_DIFFERENTIAL_REWRITE") != nullptr; }

Corpus corpus() { return loadCorpus(WEIR_DIFFERENTIAL_CORPUS); }

std::string weirYaml(const std::string& upstream) {
    return R"(weir:
  server: {address: 127.0.0.1, port: 9195, threads: 1, headerTimeout: )" + kPatience + ", bodyTimeout: " + kPatience +
           ", keepAliveTimeout: " + kPatience + R"(}
  upstream: {bodyTimeout: )" + kPatience + R"(}
  extPlugin: {enabled: false}
plugins:
  - name: divide
    selectors:
      - name: all
        type: 0
        handle: [{upstreamUrl: ")" + upstream + R"("}]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /**}]
            handle: {retry: 0, timeout: )" + std::to_string(kPatienceSeconds * 1000) + "}\n";
}

std::string nginxServer(const std::string& upstream) {
    return "client_header_timeout " + kPatience + "; client_body_timeout " + kPatience + "; keepalive_timeout " +
           kPatience + "; lingering_timeout " + kPatience + ";\nlocation / { proxy_pass http://" + upstream +
           "; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_set_header Host $http_host;\n"
           "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_read_timeout " + kPatience + "; }";
}

std::string haproxyDefaults() {
    std::string text = "    option forwardfor\n";
    for (const char* side : {"connect", "client", "server", "http-request", "http-keep-alive"}) {
        text += "    timeout " + std::string(side) + " " + kPatience + "\n";
    }
    return text;
}

// A proxy and its upstream, in the order that both need.
template <class Server>
struct Rig {
    ScriptedOrigin origin;
    Server server;
    template <class... Arguments>
    explicit Rig(const Arguments&... arguments) : server(arguments(origin.address())...) {}
};

// What the proxy does with each input; what went wrong stands in place of a behaviour.
void observeAll(int port, ScriptedOrigin& origin, const std::vector<Input>& inputs, std::vector<std::string>& seen) {
    for (const auto& input : inputs) {
        try {
            seen.push_back(observe(port, origin, input).text());
        } catch (const std::exception& error) {
            seen.push_back(std::string("broken: ") + error.what());
        }
    }
}

// By proxy and input.
std::array<std::vector<std::string>, 3> observeEverywhere(const std::vector<Input>& inputs) {
    std::array<std::vector<std::string>, 3> seen;
    Rig<GatewayProcess> weir(weirYaml);
    Rig<NginxServer> nginx(nginxServer);
    Rig<HaproxyServer> haproxy([](const auto&) { return haproxyDefaults(); },
                               [](const auto& upstream) { return upstream; });
    // At the same time, as much of it is waiting.
    std::thread second([&] { observeAll(nginx.server.port(), nginx.origin, inputs, seen[Nginx]); });
    std::thread third([&] { observeAll(haproxy.server.port(), haproxy.origin, inputs, seen[Haproxy]); });
    observeAll(weir.server.port(), weir.origin, inputs, seen[Weir]);
    second.join();
    third.join();
    CHECK(weir.server.stop() == 0);
    return seen;
}

std::string fileText(const char* path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("Weir does with each input what is recorded, and changes in nginx and HAProxy are reported") {
    auto inputs = corpus().inputs;
    const auto seen = observeEverywhere(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        auto& input = inputs[i];
        INFO(input.section << ": " << input.name);
        if (input.recorded[Weir].empty() && rewriting()) input.recorded[Weir] = seen[Weir][i];
        CHECK(seen[Weir][i] == input.recorded[Weir]);
        for (const auto proxy : {Nginx, Haproxy}) {
            if (isAsRecorded(input, proxy, seen[proxy][i])) continue;
            WARN(input.name << ": " << kProxyNames[proxy] << " does otherwise than recorded:\n  " << seen[proxy][i]
                            << "\n  " << input.recorded[proxy]);
            if (rewriting()) input.recorded[proxy] = seen[proxy][i];
        }
    }
    if (rewriting()) saveRecorded(WEIR_DIFFERENTIAL_CORPUS, inputs);
}

TEST_CASE("Weir is nowhere the lenient one, except where the corpus says why that is safe") {
    for (const auto& input : corpus().inputs) {
        INFO(input.section << ": " << input.name);
        std::string all;
        for (const auto& leniency : leniencies(input)) all += "Weir " + leniency + "\n";
        INFO(all);
        CHECK(all.empty() == input.safe.empty());
    }
}

TEST_CASE("each disagreement, and nothing else, has a reason") {
    for (const auto& input : corpus().inputs) {
        INFO(input.section << ": " << input.name);
        CHECK(agree(input) == input.why.empty());
    }
}

TEST_CASE("each input of the corpus has a name of its own") {
    std::set<std::string> names;
    for (const auto& input : corpus().inputs) {
        INFO(input.name);
        CHECK(names.insert(input.name).second);
    }
}

TEST_CASE("docs/differential.md says what the corpus says") {
    const auto report = reportOf(corpus());
    if (rewriting()) std::ofstream(WEIR_DIFFERENTIAL_REPORT) << report;
    CHECK(fileText(WEIR_DIFFERENTIAL_REPORT) == report);
}
