#include "support/catch.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::FakeExchange;
using weir::test::FakeSet;
using weir::test::LoadedPlugin;

TEST_CASE("httpClient answers 404 when no proxy plugin chose a route") {
    const LoadedPlugin client("httpClient");
    FakeExchange exchange("/");
    CHECK(enter(client, exchange) == WEIR_REPLY);
    CHECK(exchange.status == 404);
    CHECK(exchange.errorCode == -106);
    CHECK(exchange.body == "Can not find url, please check your configuration!");
    CHECK(exchange.calls == 0);
}

namespace {

// An exchange with a route to the first of three upstreams, and what becomes of its calls.
struct Run {
    Run(std::uint32_t retry, int strategy) {
        set.upstreams.resize(3);
        weir_route& route = exchange.route.emplace();
        route.set = set.raw();
        route.timeout_ms = 60'000;
        route.retry = retry;
        route.retry_strategy = strategy;
        exchange.picks = 1;
    }

    // Runs httpClient until its calls have ended so; its answer.
    int with(const std::vector<int>& results) {
        weir_outcome outcome{};
        int answer = client.table().enter(client.plugin(), &exchange, nullptr, &outcome);
        const auto resume = [&](std::uint32_t kind, int status) {
            REQUIRE(outcome.frame);
            const weir_event event{sizeof event, kind, 1, status, {}};
            answer = client.table().resume(client.plugin(), &exchange, outcome.frame, &event, &outcome);
        };
        std::size_t slept = 0;
        for (std::size_t ended = 0; answer == WEIR_SUSPENDED;) {
            if (exchange.sleeps.size() > slept) {
                ++slept;
                resume(WEIR_EVENT_COMPLETED, WEIR_OK);
                continue;
            }
            REQUIRE(ended < results.size());
            resume(WEIR_EVENT_COMPLETED, results[ended++]);
        }
        CHECK(exchange.calls == static_cast<int>(results.size()));
        CHECK_FALSE(outcome.frame);  // it has no return part
        return answer;
    }

    FakeSet set;
    FakeExchange exchange{"/"};
    const LoadedPlugin client{"httpClient"};
};

constexpr std::uint64_t kMs = 1'000'000;

}  // namespace

TEST_CASE("httpClient repeats a call that failed as often as the rule says, then goes on with the chain") {
    struct Row { unsigned retry; std::vector<int> results; };
    const Row rows[] = {
        {3, {WEIR_CALL_OK}},
        {0, {WEIR_CALL_REFUSED}},
        {3, {WEIR_CALL_REFUSED, WEIR_CALL_OK}},
        {3, {WEIR_CALL_TIMEOUT, WEIR_CALL_RESET, WEIR_CALL_BAD_REPLY, WEIR_CALL_CONNECT_TIMEOUT}},
        {1, {WEIR_CALL_RESET, WEIR_CALL_RESET}},
        {3, {WEIR_CALL_UNRESOLVED}},  // current: it would have none a moment later
    };
    for (const Row& row : rows) {
        INFO("retry " << row.retry << ", " << row.results.size() << " calls");
        Run run(row.retry, WEIR_RETRY_CURRENT);
        CHECK(run.with(row.results) == WEIR_FORWARD);
        CHECK(run.exchange.route->index == 0);
        CHECK(run.exchange.sleeps.size() == row.results.size() - 1);
    }
}

TEST_CASE("the strategy current waits 20 ms before the first repeat, twice as long before each further, with jitter") {
    Run run(3, WEIR_RETRY_CURRENT);
    const std::vector<int> refused(4, WEIR_CALL_REFUSED);
    CHECK(run.with(refused) == WEIR_FORWARD);
    REQUIRE(run.exchange.sleeps.size() == 3);
    std::uint64_t wait = 20 * kMs;
    for (const std::uint64_t slept : run.exchange.sleeps) {
        CHECK(slept >= wait / 2);
        CHECK(slept <= wait * 3 / 2);
        wait *= 2;
    }
}

TEST_CASE("a request that is not safe to repeat is not, with either strategy") {
    for (const int strategy : {WEIR_RETRY_CURRENT, WEIR_RETRY_FAILOVER}) {
        Run run(3, strategy);
        run.exchange.repeat = WEIR_REPEAT_NEVER;
        CHECK(run.with({WEIR_CALL_TIMEOUT}) == WEIR_FORWARD);
        CHECK(run.exchange.sleeps.empty());
    }
}

TEST_CASE("the strategy failover goes to another upstream at once, not to one that was tried") {
    Run run(3, WEIR_RETRY_FAILOVER);
    CHECK(run.with({WEIR_CALL_UNRESOLVED, WEIR_CALL_OK}) == WEIR_FORWARD);
    CHECK(run.exchange.route->index == 1);
    CHECK(run.exchange.lastExcluded == 1);
    CHECK(run.exchange.sleeps.empty());

    Run twice(3, WEIR_RETRY_FAILOVER);
    CHECK(twice.with({WEIR_CALL_TIMEOUT, WEIR_CALL_RESET, WEIR_CALL_OK}) == WEIR_FORWARD);
    CHECK(twice.exchange.lastExcluded == 3);
}

TEST_CASE("failover answers 503 when no upstream is left, and leaves the last error when the repeats are used up") {
    Run none(3, WEIR_RETRY_FAILOVER);
    none.exchange.picks = -1;
    CHECK(none.with({WEIR_CALL_REFUSED}) == WEIR_REPLY);
    CHECK(none.exchange.status == 503);
    CHECK(none.exchange.errorCode == -121);
    CHECK(none.exchange.body == "Can not find healthy upstream url after failover!");

    Run over(1, WEIR_RETRY_FAILOVER);
    CHECK(over.with({WEIR_CALL_REFUSED, WEIR_CALL_TIMEOUT}) == WEIR_FORWARD);
    CHECK(over.exchange.status == 0);
}

TEST_CASE("a repeat waits while too many are being repeated, but not for ever") {
    Run run(1, WEIR_RETRY_FAILOVER);
    run.exchange.busy = 3;
    CHECK(run.with({WEIR_CALL_RESET, WEIR_CALL_OK}) == WEIR_FORWARD);
    CHECK(run.exchange.sleeps.size() == 3);

    Run late(1, WEIR_RETRY_FAILOVER);
    late.exchange.busy = 1000;
    late.exchange.route->timeout_ms = 2000;  // nothing begins later than twice that after the first failure
    CHECK(late.with({WEIR_CALL_RESET}) == WEIR_FORWARD);
    CHECK(late.exchange.sleeps.size() < 12);
    CHECK(late.exchange.sleeps.back() < 4000 * kMs);
}
