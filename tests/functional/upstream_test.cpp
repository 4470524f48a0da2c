// Upstreams that change while they are used: names with other addresses, servers that die and come back.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/value.hpp"
#include "functional/local_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/request_load.hpp"
#include "support/temp_directory.hpp"

using namespace weir;
using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

const std::string kGet = "GET /http/a HTTP/1.1\r\nHost: a\r\n\r\n";

// Names for a gateway that it looks up in fixtures/steered_resolver.cpp.
class Hosts {
public:
    // `line`: "NAME ADDRESS...". Takes the place of the one before at once.
    void set(const std::string& line) const {
        std::filesystem::rename(directory_.write("new", line + "\n"), directory_.path() / "hosts");
    }
    std::vector<std::string> environment() const {
        const char* asan = std::getenv("ASAN_OPTIONS");
        return {"LD_PRELOAD=" WEIR_TEST_RESOLVER, "WEIR_TEST_HOSTS=" + (directory_.path() / "hosts").string(),
                "ASAN_OPTIONS=" + std::string(asan ? asan : "") + ":verify_asan_link_order=0"};
    }

private:
    TempDirectory directory_;
};

base::Value upstreamsOf(const GatewayProcess& gateway) {
    const HttpMessage answer = get(gateway.managementPort(), "/upstreams");
    REQUIRE(answer.status() == 200);
    auto tree = base::parseJson(answer.body);
    REQUIRE(tree.ok());
    return std::move(tree).value();
}

// What /upstreams says of an upstream: the member's text; of a list its items, with blanks between them.
std::string told(const GatewayProcess& gateway, const std::string& url, std::string_view member) {
    const base::Value sets = upstreamsOf(gateway);
    for (const base::Value& set : sets.items()) {
        for (const base::Value& one : set.find("upstreams")->items()) {
            if (one.find("url")->text() != url) continue;
            const base::Value* value = one.find(member);
            if (!value) return "(no such member)";
            if (!value->isArray()) return std::string(value->text());
            std::string all;
            for (const base::Value& item : value->items()) all += (all.empty() ? "" : " ") + std::string(item.text());
            return all;
        }
    }
    return "(not listed)";
}

std::string portOf(const RecordingUpstream& upstream) { return std::to_string(upstream.port()); }

RecordingUpstream::Reply saying(const std::string& text) {
    return [text](const HttpMessage&) { return RecordingUpstream::ok(text); };
}

}  // namespace

TEST_CASE("a name that changes its addresses under load fails no request, also when the old address goes") {
    Hosts hosts;
    auto before = std::make_unique<RecordingUpstream>(saying("before"));
    RecordingUpstream after(saying("after"), before->port(), "127.0.0.2");
    hosts.set("service.test 127.0.0.1");
    const std::string url = "service.test:" + portOf(after);
    GatewayProcess gateway(proxyTo(url), {"--upstream.resolveInterval=100ms", "--server.threads=2"},
                           hosts.environment());
    CHECK(told(gateway, url, "addresses") == before->address());
    RequestLoad load(gateway.port(), kGet);
    REQUIRE(load.waitForRound());
    REQUIRE(before->waitForRequests(8));

    hosts.set("service.test 127.0.0.1 127.0.0.2");
    REQUIRE(eventually([&] { return told(gateway, url, "addresses") == before->address() + " " + after.address(); }));
    REQUIRE(load.waitForRound());

    hosts.set("service.test 127.0.0.2");
    REQUIRE(eventually([&] { return told(gateway, url, "addresses") == after.address(); }));
    REQUIRE(load.waitForRound());  // each loop has heard
    // Idle connections are closed, those in use when their call is over.
    REQUIRE(eventually([&] { return before->ended() == before->connections(); }));
    const std::size_t last = before->requests().size();
    before.reset();
    REQUIRE(load.waitForRound());
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
    CHECK(after.requests().size() >= 8);
    CHECK(last > 0);
}

TEST_CASE("a name that stops resolving fails no request, and the log says so once and when it is over") {
    Hosts hosts;
    RecordingUpstream upstream;
    hosts.set("service.test 127.0.0.1");
    const std::string url = "service.test:" + portOf(upstream);
    GatewayProcess gateway(proxyTo(url), {"--upstream.resolveInterval=100ms"}, hosts.environment());
    RequestLoad load(gateway.port(), kGet);
    REQUIRE(load.waitForRound());
    hosts.set("service.test");
    gateway.process().waitForLine("; the addresses found before serve on");
    REQUIRE(load.waitForRound());
    CHECK(told(gateway, url, "addresses") == upstream.address());
    hosts.set("service.test 127.0.0.1");
    gateway.process().waitForLine("upstream " + url + ": the name resolves again");
    load.stop();
    CHECK(load.failures() == std::vector<std::string>{});
}

TEST_CASE("a name that does not resolve at the start or in a call is answered 502 until it does") {
    Hosts hosts;
    RecordingUpstream upstream;
    hosts.set("service.test");
    const std::string url = "service.test:" + portOf(upstream);
    GatewayProcess gateway(proxyTo(url), {"--upstream.resolveInterval=100ms"}, hosts.environment());
    CHECK(get(gateway.port(), "/http/a").status() == 502);
    CHECK(told(gateway, url, "addresses").empty());
    hosts.set("service.test 127.0.0.1");
    REQUIRE(eventually([&] { return told(gateway, url, "addresses") == upstream.address(); }));
    CHECK(get(gateway.port(), "/http/a").status() == 200);
}

TEST_CASE("the connections to a name go to all its addresses") {
    Hosts hosts;
    const auto closing = [](const HttpMessage&) { return RecordingUpstream::ok("ok", "Connection: close\r\n"); };
    RecordingUpstream one{RecordingUpstream::Reply(closing)};
    RecordingUpstream other(RecordingUpstream::Reply(closing), one.port(), "127.0.0.2");
    hosts.set("service.test 127.0.0.2 127.0.0.1");
    GatewayProcess gateway(proxyTo("service.test:" + portOf(one)), {}, hosts.environment());
    for (int i = 0; i < 4; ++i) CHECK(get(gateway.port(), "/http/a").status() == 200);
    CHECK(one.requests().size() == 2);
    CHECK(other.requests().size() == 2);
}

namespace {

const std::vector<std::string> kChecks = {"--upstreamCheck.enabled=true", "--upstreamCheck.interval=20ms"};

// A gateway whose only selector has upstreams that come by call, balanced by roundRobin.
struct Listed {
    explicit Listed(const std::vector<std::string>& arguments) : gateway(onlyDivide(), arguments), caller(gateway) {}

    // `upstreams`: the items of the handle.
    void list(const std::string& upstreams) {
        Entry entry{.id = "s", .conditions = {uri("pathPattern", "/**")}, .handle = "[" + upstreams + "]"};
        caller.selector(entry.selector());
        entry.id = "r";
        entry.handle = R"({"loadBalance":"roundRobin","retry":0})";
        caller.rule(entry.rule("s"));
    }
    // The bodies of so many answers, each once, sorted.
    std::set<std::string> answers(int count, const std::string& domain = "") {
        std::set<std::string> bodies;
        RawClient client(gateway.port());
        const std::string field = domain.empty() ? "" : "specify-domain: " + domain + "\r\n";
        for (int i = 0; i < count; ++i)
            bodies.insert(client.exchange("GET /a HTTP/1.1\r\nHost: a\r\n" + field + "\r\n").body);
        return bodies;
    }
    bool healthIs(const std::string& url, const std::string& health) {
        return eventually([&] { return told(gateway, url, "health") == health; });
    }

    GatewayProcess gateway;
    LocalCaller caller;
};

std::string item(const std::string& url, const std::string& more = "") {
    return R"({"upstreamUrl":")" + url + "\"" + more + "}";
}

using Bodies = std::set<std::string>;

}  // namespace

TEST_CASE("C15: a checked upstream that dies gets no requests, and gets them again when it is back") {
    RecordingUpstream one(saying("one"));
    auto other = std::make_unique<RecordingUpstream>(saying("other"));
    const int port = other->port();
    const std::string url = other->address();
    Listed listed(kChecks);
    listed.list(item(one.address()) + "," + item(url));
    CHECK(listed.answers(4) == Bodies{"one", "other"});
    CHECK(told(listed.gateway, url, "health") == "healthy");
    other.reset();
    REQUIRE(listed.healthIs(url, "unhealthy"));
    CHECK(listed.answers(10) == Bodies{"one"});
    CHECK(told(listed.gateway, one.address(), "health") == "healthy");
    other = std::make_unique<RecordingUpstream>(saying("other"), port);
    CHECK(eventually([&] { return listed.answers(2) == Bodies{"one", "other"}; }));
}

TEST_CASE("C15: what is told to be off is checked on, gets no request, and serves at once when it is on and healthy") {
    RecordingUpstream one(saying("one"));
    auto other = std::make_unique<RecordingUpstream>(saying("other"));
    const int port = other->port();
    const std::string url = other->address();
    const std::string on = item(one.address()) + "," + item(url);
    const std::string off = item(one.address()) + "," + item(url, R"(,"status":false)");
    Listed listed(kChecks);
    listed.list(on);
    other.reset();
    REQUIRE(listed.healthIs(url, "unhealthy"));
    listed.list(off);
    CHECK(told(listed.gateway, url, "status") == "false");
    CHECK(told(listed.gateway, url, "health") == "unhealthy");  // kept over the change
    listed.list(on);
    CHECK(listed.answers(10) == Bodies{"one"});
    listed.list(off);
    other = std::make_unique<RecordingUpstream>(saying("other"), port);
    REQUIRE(listed.healthIs(url, "healthy"));
    CHECK(listed.answers(10) == Bodies{"one"});
    listed.list(on);
    CHECK(listed.answers(2) == Bodies{"one", "other"});
}

TEST_CASE("an upstream with healthCheckEnabled false is called whatever its status and a check would say") {
    const std::string url = "127.0.0.1:" + std::to_string(unusedPort());
    Listed listed(kChecks);
    listed.list(item(url, R"(,"status":false,"healthCheckEnabled":false)"));
    CHECK(told(listed.gateway, url, "health") == "unchecked");
    CHECK(get(listed.gateway.port(), "/a").status() == 502);
    listed.list(item(url));
    REQUIRE(listed.healthIs(url, "unhealthy"));
    CHECK(get(listed.gateway.port(), "/a").status() == 503);
}

TEST_CASE("with a path an upstream that answers 503 to it is unhealthy") {
    std::atomic<bool> ready{true};
    RecordingUpstream upstream([&](const HttpMessage& request) {
        const bool check = request.startLine == "GET /ready HTTP/1.1";
        return check && !ready ? "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n" : RecordingUpstream::ok("served");
    });
    std::vector<std::string> arguments = kChecks;
    arguments.push_back("--upstreamCheck.path=/ready");
    Listed listed(arguments);
    listed.list(item(upstream.address()));
    CHECK(listed.answers(1) == Bodies{"served"});
    ready = false;
    REQUIRE(listed.healthIs(upstream.address(), "unhealthy"));
    CHECK(get(listed.gateway.port(), "/a").status() == 503);
    ready = true;
    CHECK(eventually([&] { return listed.answers(1) == Bodies{"served"}; }));
}

TEST_CASE("while a gray upstream is healthy only gray ones get requests, but for those that name another") {
    RecordingUpstream one(saying("one"));
    auto gray = std::make_unique<RecordingUpstream>(saying("gray"));
    const std::string url = gray->address();
    Listed listed(kChecks);
    listed.list(item(one.address()) + "," + item(url, R"(,"gray":true)"));
    CHECK(listed.answers(10) == Bodies{"gray"});
    CHECK(listed.answers(10, one.address()) == Bodies{"one"});
    CHECK(listed.answers(10, "127.0.0.1:1") == Bodies{"gray"});  // not listed
    CHECK(told(listed.gateway, url, "gray") == "true");
    CHECK(told(listed.gateway, one.address(), "gray") == "false");
    gray.reset();
    REQUIRE(listed.healthIs(url, "unhealthy"));
    CHECK(listed.answers(10) == Bodies{"one"});
    CHECK(listed.answers(10, url) == Bodies{"one"});
}

TEST_CASE("a call does not wait for a name that can not be looked up, and other data serves meanwhile") {
    Hosts hosts;
    hosts.set("service.test 127.0.0.1");
    RecordingUpstream upstream(saying("served"));
    const std::string url = "service.test:" + portOf(upstream);
    GatewayProcess gateway(onlyDivide(), {"--upstream.resolveInterval=100ms"}, hosts.environment());
    const LocalCaller caller(gateway);
    Entry entry{.id = "s", .conditions = {uri("pathPattern", "/**")}, .handle = "[" + item("hangs.test:80") + "]"};
    const auto began = std::chrono::steady_clock::now();
    caller.selector(entry.selector());
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
    CHECK(told(gateway, "hangs.test:80", "addresses").empty());
    entry.handle = "[" + item(url) + "]";
    caller.selector(entry.selector());
    entry.id = "r";
    entry.handle = "{}";
    caller.rule(entry.rule("s"));
    CHECK(eventually([&] { return get(gateway.port(), "/a").body == "served"; }));
    CHECK(gateway.stop() == 0);  // the lookup that hangs holds up no end
}
