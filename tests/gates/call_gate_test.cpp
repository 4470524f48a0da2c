// What the event loops ask of the kernel and of malloc for a keep-alive request, counted.
#include <future>
#include <iomanip>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "gates/call_counter.hpp"
#include "gates/default_chain.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/wire_connection.hpp"

using namespace weir::support;
using namespace weir::gates;

namespace {

constexpr std::uint64_t kWarmUp = 100;
constexpr std::uint64_t kRequests = 1000;
// Waits in epoll_wait, of all requests together, that a timer ends instead of a request.
constexpr std::uint64_t kTimerWakes = kRequests / 100;

std::uint64_t of(const Calls& calls, Call call) { return calls[static_cast<std::size_t>(call)]; }

Calls difference(const Calls& after, const Calls& before) {
    Calls calls{};
    for (std::size_t i = 0; i < kCalls; ++i) calls[i] = after[i] - before[i];
    return calls;
}

bool holds(const Calls& counted, const Calls& perRequest) {
    for (std::size_t i = 0; i < kCalls; ++i) {
        const bool waits = i == static_cast<std::size_t>(Call::EpollWait);
        if (counted[i] > perRequest[i] * kRequests + (waits ? kTimerWakes : 0)) return false;
    }
    return true;
}

std::string table(const Calls& counted, const Calls& perRequest) {
    std::ostringstream text;
    text << "per request, of " << kRequests << "          counted   gate\n" << std::fixed << std::setprecision(3);
    for (std::size_t i = 0; i < kCalls; ++i) {
        text << std::left << std::setw(22) << kCallNames[i] << std::right << std::setw(15)
             << static_cast<double>(counted[i]) / kRequests << std::setw(7) << perRequest[i] << "\n";
    }
    return text.str();
}

// A warm connection to each of so many loops, by the loop's number in the counter; others may wait in epoll_wait too,
// but requests make only the gateway's send. What else had to be opened to meet them all stays in `others`: a
// connection that closes gives its loop work.
std::map<std::size_t, RawClient> connectToEach(std::size_t loops, const GatewayProcess& gateway,
                                               const CallCounter& counter, const std::string& request,
                                               std::vector<RawClient>& others) {
    std::map<std::size_t, RawClient> clients;
    for (int attempt = 0; clients.size() < loops; ++attempt) {
        if (attempt == 100) throw std::runtime_error("100 connections never met " + std::to_string(loops) + " loops");
        RawClient client(gateway.port());
        repeat(client, request, 1);  // from here on its loop is counted
        const auto before = counter.loops();
        repeat(client, request, kWarmUp);
        const auto after = counter.loops();
        std::size_t loop = 0;
        while (loop < before.size() && of(difference(after[loop], before[loop]), Call::Send) < kWarmUp) ++loop;
        if (loop == before.size()) throw std::runtime_error("no counted loop has sent the answers");
        if (!clients.try_emplace(loop, std::move(client)).second) others.push_back(std::move(client));
    }
    return clients;
}

}  // namespace

TEST_CASE("the counter sees each call of a loop, however it is made, and none of another thread") {
    const CallCounter counter;
    const Finished program = runToEnd(COUNTED_CALLS, {}, counter.environment());
    INFO(program.output);
    REQUIRE(program.exitCode == 0);
    const auto loops = counter.loops();
    REQUIRE(loops.size() == 1);
    CHECK(loops[0] == Calls{3, 1, 2, 2, 1, 1, 1, 5});
}

TEST_CASE("a keep-alive request through the default chain makes no call that it can do without") {
    struct Row {
        const char* name;
        std::size_t loops;
        std::size_t requestBytes;
        std::size_t answerBytes;
        Calls most;  // for one request: receive, EAGAIN, send, epoll_wait, epoll_ctl, futex, other, malloc
    };
    const Row row = GENERATE(values<Row>({
        {"GET", 1, 0, 100, {2, 0, 2, 2, 0, 0, 0, 0}},
        {"a request with a body of 100 bytes", 1, 100, 100, {2, 0, 2, 2, 0, 0, 0, 0}},
        {"a request with a body of 16 KiB", 1, 16384, 100, {2, 0, 2, 2, 0, 0, 0, 0}},
        {"an answer of 16 KiB", 1, 0, 16384, {2, 0, 2, 2, 0, 0, 0, 0}},
        {"two loops at work", 2, 0, 100, {2, 0, 2, 2, 0, 0, 0, 0}},
    }));
    INFO(row.name);
    const RecordingUpstream upstream(answersOf(row.answerBytes));
    CallCounter counter;
    GatewayProcess gateway(defaultChain(upstream.address()), {"--server.threads=" + std::to_string(row.loops)},
                           counter.environment());
    const std::string request = requestOf(row.requestBytes);
    std::vector<RawClient> others;
    auto clients = connectToEach(row.loops, gateway, counter, request, others);

    counter.traceAllocations();
    const auto before = counter.loops();
    std::vector<std::future<void>> running;
    for (auto& each : clients) {
        running.push_back(std::async(std::launch::async, [&] { repeat(each.second, request, kRequests); }));
    }
    for (auto& each : running) each.get();
    const auto after = counter.loops();

    for (const auto& [loop, client] : clients) {
        const Calls calls = difference(after[loop], before[loop]);
        const bool within = holds(calls, row.most);
        INFO(table(calls, row.most));
        INFO((within ? "" : counter.traces(gateway.process().pid())));
        CHECK(within);
    }
    CHECK(gateway.stop() == 0);
}
