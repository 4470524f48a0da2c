#include "functional/http/http_rig.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "support/catch.hpp"

using namespace weir::support;

namespace weir::functional {

namespace {

// A request that must not be found in the middle of another one.
const std::string kHidden = getRequest("/s1/hidden");

std::string selector(const std::string& name, const Route& route, const RigOptions& options) {
    const std::string conditions = "conditions: [" + route.condition + "]\n";
    return "      - name: " + name + "\n        " + conditions + "        handle: [{upstreamUrl: \"" +
           route.upstream.address() + "\"}]\n        rules:\n          - name: all\n            " + conditions +
           "            handle: {retry: " + std::to_string(options.retry) +
           ", timeout: " + std::to_string(options.timeoutMs) + "}\n";
}

std::string path(const std::string& pattern) {
    return "{paramType: uri, operator: pathPattern, paramValue: " + pattern + "}";
}

std::string yaml(const std::vector<Route>& routes, const RecordingUpstream& alive, const RigOptions& options) {
    std::string text = R"(weir:
  server: {address: 127.0.0.1, port: 9195, threads: 1}
  extPlugin: {enabled: false}
plugins:
  - name: divide
    selectors:
)";
    text += selector("alive", {path("/alive"), alive}, options);
    for (std::size_t i = 0; i < routes.size(); ++i) text += selector("S" + std::to_string(i + 1), routes[i], options);
    return text;
}

std::vector<std::string> arguments(const RigOptions& options) {
    auto all = options.arguments;
    if (options.guard) {
        all.push_back("--extPlugin.enabled=true");
        all.push_back("--extPlugin.path=" WEIR_HTTP_FIXTURES);
    }
    return all;
}

std::string summary(const std::vector<HttpMessage>& answers) {
    std::string text;
    for (const auto& answer : answers) text += answer.raw + "\n--\n";
    return text;
}

// What can be said of a refusal from the client's side.
void checkRefusal(WireConnection& client, const std::vector<int>& statuses) {
    const auto answers = answersUntilClose(client);
    INFO(summary(answers));
    CHECK(answers.size() == 1);
    if (answers.empty()) return;
    CHECK_THAT(statuses, Catch::VectorContains(answers.front().status()));
    CHECK(answers.front().field("Connection") == "close");
}

}  // namespace

HttpRig::HttpRig(const RecordingUpstream& upstream, const RigOptions& options)
    : HttpRig(std::vector<Route>{{path("/s1/**"), upstream}}, options) {}

HttpRig::HttpRig(const std::vector<Route>& routes, const RigOptions& options)
    : gateway_(yaml(routes, alive_, options), arguments(options)) {
    upstreams_.push_back(&alive_);
    for (const auto& route : routes) upstreams_.push_back(&route.upstream);
    socketsBefore_ = ownSockets();
}

HttpRig::~HttpRig() {
    try {
        checkUnharmed();
    } catch (const std::exception& error) {
        FAIL_CHECK(error.what() << "; the gateway's output:\n" << gateway_.process().output());
    }
}

void HttpRig::checkUnharmed() {
    const auto start = std::chrono::steady_clock::now();
    CHECK(get(port(), "/alive").body == "ok");
#ifndef WEIR_SANITIZED
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
#else
    (void)start;
#endif
    std::size_t sockets = 0;  // not asked again: a connection that closes meanwhile may be counted on one side only
    eventually([&] { return (sockets = ownSockets()) <= socketsBefore_; });
    CHECK(sockets <= socketsBefore_);
    INFO(gateway_.process().output());
    CHECK(gateway_.stop() == 0);
}

std::size_t HttpRig::ownSockets() const {
    std::size_t sockets = 0;
    const std::string directory = "/proc/" + std::to_string(gateway_.process().pid()) + "/fd";
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry, gone).string().rfind("socket:", 0) == 0) ++sockets;
    }
    std::size_t upstream = 0;
    for (const auto* each : upstreams_) upstream += each->connections() - each->ended();
    return sockets - std::min(sockets, upstream);
}

void HttpRig::settle() const { CHECK(get(port(), "/alive").status() == 200); }

std::string post(std::string_view fields, std::string_view body) {
    return "POST /s1/e HTTP/1.1\r\nHost: g\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

std::string postChunked(std::string_view chunks) { return post("Transfer-Encoding: chunked\r\n", chunks); }

std::string getRequest(std::string_view target, std::string_view fields, std::string_view version) {
    return "GET " + std::string(target) + " HTTP/" + std::string(version) + "\r\nHost: g\r\n" + std::string(fields) +
           "\r\n";
}

std::vector<HttpMessage> answersUntilClose(WireConnection& client) {
    std::vector<HttpMessage> answers;
    try {
        while (auto answer = client.message()) answers.push_back(*std::move(answer));
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::connection_reset) throw;
    }
    return answers;
}

void checkRefused(const HttpRig& rig, const RecordingUpstream& upstream, std::string_view bytes,
                  const std::vector<int>& statuses) {
    for (const auto& behind : {std::string(), kHidden}) {
        INFO("followed by: " << behind);
        const auto before = upstream.received().size();
        try {
            RawClient client(rig.port());
            client.send(std::string(bytes) + behind);
            checkRefusal(client, statuses);
        } catch (const std::exception& error) {
            FAIL_CHECK(error.what());
        }
        rig.settle();
        CHECK(upstream.received().substr(before) == "");
    }
}

void checkBrokenOff(const HttpRig& rig, const RecordingUpstream& upstream, std::string_view head,
                    std::string_view rest, const std::vector<int>& statuses) {
    const auto before = upstream.requests().size();
    const auto bytes = upstream.received().size();
    try {
        RawClient client(rig.port());
        client.send(head);
        CHECK(eventually([&] { return upstream.received().find("\r\n\r\n", bytes) != std::string::npos; }));
        client.send(std::string(rest) + kHidden);
        checkRefusal(client, statuses);
    } catch (const std::exception& error) {
        FAIL_CHECK(error.what());
    }
    rig.settle();
    CHECK(eventually([&] { return upstream.connections() == upstream.ended(); }));  // reset, or closed
    INFO(upstream.received().substr(bytes));
    CHECK(upstream.requests().size() == before);
    CHECK(upstream.received().find("hidden", bytes) == std::string::npos);
}

HttpMessage checkServed(const HttpRig& rig, const RecordingUpstream& upstream, std::string_view bytes) {
    const auto before = upstream.requests().size();
    try {
        RawClient client(rig.port());
        client.send(bytes);
        CHECK(client.response().status() == 200);
        CHECK(client.exchange(getRequest("/s1/behind")).status() == 200);
    } catch (const std::exception& error) {
        FAIL_CHECK(error.what());
    }
    const auto requests = upstream.requests();
    CHECK(requests.size() == before + 2);
    if (requests.size() != before + 2) return {};
    CHECK(requests.at(before + 1).startLine == "GET /s1/behind HTTP/1.1");
    return requests.at(before);
}

RecordingUpstream::Reply echoBody() {
    return [](const HttpMessage& request) { return RecordingUpstream::ok(request.body); };
}

}  // namespace weir::functional
