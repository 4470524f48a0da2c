// A module that comes, changes and goes while wrk drives the gateway at full load.
#include <signal.h>

#include <map>
#include <sstream>

#include "functional/ext_folder.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/nginx_server.hpp"
#include "support/wire_connection.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;

namespace {

#ifdef WEIR_SANITIZED
constexpr int kRounds = 5;
#else
constexpr int kRounds = 20;
#endif

// What may be more after the last round than after the second; one thing kept at each change is 54 more.
constexpr std::size_t kDescriptors = 8;
constexpr std::size_t kMappings = 16;
constexpr std::size_t kResidentBytes = 1 << 20;

// wrk names errors only when there are some, and takes every status below 400 for a success.
constexpr const char* kScript = R"(
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init() wrong = 0 end
function response(status) if status ~= 200 then wrong = wrong + 1 end end
function done(summary)
  local wrong = 0
  for _, thread in ipairs(threads) do wrong = wrong + thread:get("wrong") end
  local errors = summary.errors
  print("result requests " .. summary.requests .. " wrong " .. wrong .. " connect " .. errors.connect ..
        " read " .. errors.read .. " write " .. errors.write .. " timeout " .. errors.timeout)
end
)";

// wrk with 64 connections, from construction until finish().
class WrkLoad {
public:
    explicit WrkLoad(const GatewayProcess& gateway)
        : process_("wrk", {"--threads", "2", "--connections", "64", "--duration", "1h", "--timeout", "30s", "--script",
                           directory_.write("count.lua", kScript),
                           "http://127.0.0.1:" + std::to_string(gateway.port()) + "/http/a"}) {}

    // Its counts by name; throws with its output when there are none.
    std::map<std::string, unsigned long> finish() {
        process_.signal(SIGINT);
        std::istringstream words(process_.waitForLine("result "));
        std::map<std::string, unsigned long> counts;
        unsigned long count = 0;
        for (std::string name; words >> name >> count;) counts[name] = count;
        REQUIRE(process_.waitForExit() == 0);
        return counts;
    }

private:
    TempDirectory directory_;
    ChildProcess process_;
};

// One connection beside the load.
class Probe {
public:
    explicit Probe(const GatewayProcess& gateway) : client_(gateway.port()) {}

    // Whether X-Hello ("none" without it) goes from what it was to `value`, with nothing else between.
    bool sees(const std::string& value) {
        const std::string before = seen_;
        return eventually([&] {
            const HttpMessage answer = client_.exchange("GET /http/a HTTP/1.1\r\nHost: weir.test\r\n\r\n");
            seen_ = answer.field("X-Hello").value_or("none");
            INFO(answer.raw);
            CHECK((answer.status() == 200 && answer.count("X-Hello") <= 1));
            CHECK((seen_ == before || seen_ == value));
            return seen_ == value;
        });
    }

private:
    RawClient client_;
    std::string seen_ = "none";
};

void put(const ExtFolder& folder, int way, const std::string& build) {
    if (way % 3 == 0) folder.rename(built(build, "hello"), "hello.so");
    if (way % 3 == 1) folder.copy(built(build, "hello"), "hello.so");
    if (way % 3 == 2) folder.copySlowly(built(build, "hello"), "hello.so");
}

}  // namespace

TEST_CASE("at wrk's full load a module comes, changes and goes without one error, and leaves nothing behind") {
    const NginxServer upstream("keepalive_requests 1000000; location / { return 200 ok; }");
    const ExtFolder folder;
    std::vector<std::string> arguments = folder.arguments();
    arguments.push_back("--server.threads=2");
    GatewayProcess gateway(proxyTo(upstream.address()), arguments);
    WrkLoad load(gateway);
    Probe probe(gateway);
    std::size_t descriptors = 0;
    std::size_t mappings = 0;
    std::size_t resident = 0;
    for (int round = 1; round <= kRounds; ++round) {
        INFO("round " << round);
        put(folder, round, "hello-1");
        REQUIRE(probe.sees("1"));
        put(folder, round + 1, "hello-2");
        REQUIRE(probe.sees("2"));
        folder.remove("hello.so");
        REQUIRE(probe.sees("none"));
        CHECK(eventually([&] { return gateway.mappedFiles("/hello-").empty(); }));
        if (round == 2) {  // each way of copying was used by now
            descriptors = gateway.descriptors();
            mappings = gateway.mappings();
            resident = gateway.residentBytes();
        }
    }
    CHECK(eventually([&] { return gateway.descriptors() <= descriptors + kDescriptors; }));
#ifndef WEIR_SANITIZED
    CHECK(gateway.mappings() <= mappings + kMappings);
    CHECK(gateway.residentBytes() <= resident + kResidentBytes);
#else
    (void)mappings;  // the sanitizers' own grow
    (void)resident;
#endif
    auto counts = load.finish();
    CHECK(counts["requests"] > 1000);
    for (const char* error : {"wrong", "connect", "read", "write", "timeout"}) {
        INFO(error);
        REQUIRE(counts.contains(error));
        CHECK(counts[error] == 0);
    }
    CHECK(gateway.stop() == 0);
}
