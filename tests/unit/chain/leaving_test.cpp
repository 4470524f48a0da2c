#include <array>
#include <cstdint>

#include "chain_harness.hpp"
#include "chain/plugin_counters.hpp"
#include "support/catch.hpp"

using namespace weir::chain;
using namespace weir::chain::test;
using weir::Answer;
using weir::Next;
using weir::Task;

namespace {

Answer replyOk(weir::Exchange& exchange) { return exchange.reply(200, "body"); }

Task<> leaveFromWithin(weir::Exchange&, Next next, Trace& trace) {
    Guard guard(trace, "inner");
    co_await next.leave();
    trace.push_back("behind leave()");
}

}  // namespace

TEST_CASE("a coroutine that leaves is gone before the next plugin is entered, and the chain goes on") {
    struct Row {
        const char* what;
        bool waits;
        bool nested;
    };
    const Row rows[] = {
        {"at once", false, false},
        {"after it has waited", true, false},
        {"from within another coroutine", false, true},
        {"from within another one, after it has waited", true, true},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        std::array<PluginCounters, 2> counters;
        Harness h;
        h.context().number = 1;
        h.coroutine("outer", [&h](weir::Exchange&, Next next) -> Task<> {
            Guard guard(h.trace, "outer");
            co_await next();
        });
        h.coroutine("leaves", [&h, row](weir::Exchange& exchange, Next next) -> Task<> {
            Guard guard(h.trace, "leaves");
            if (row.waits) co_await weir::Host().callUpstream();
            if (row.nested) co_await leaveFromWithin(exchange, next, h.trace);
            else co_await next.leave();
            h.trace.push_back("behind leave()");
        });
        h.plain("end", [&h](weir::Exchange& exchange) {
            h.trace.push_back("end");
            return replyOk(exchange);
        });
        h.entry(1).counters = counters.data();
        h.start();
        if (row.waits) h.answerCall();
        Trace expected;
        if (row.waits) expected.push_back("call");
        if (row.nested) expected.push_back("~inner");
        expected.insert(expected.end(), {"~leaves", "end"});
        if (row.waits) expected.push_back("cancel call");  // of the answer that "end" replaced
        expected.insert(expected.end(), {"~outer", "commit 200"});
        CHECK(h.trace == expected);
        CHECK(counters[1].entered == std::uint64_t{1});
        CHECK(counters[1].forwarded == std::uint64_t{1});
        h.finish();
        CHECK(h.trace.back() == "released");
    }
}

TEST_CASE("a coroutine can not leave in its return part") {
    Harness h;
    h.coroutine("late", [](weir::Exchange&, Next next) -> Task<> {
        co_await next();
        co_await next.leave();
    });
    h.plain("end", replyOk);
    h.start();
    REQUIRE(h.committed());
    CHECK(h.exchange->response.head.status == 500);
    h.finish();
}
