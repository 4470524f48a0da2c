#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "chain_harness.hpp"
#include "support/catch.hpp"

using namespace weir::chain;
using namespace weir::chain::test;
using weir::Answer;
using weir::Next;
using weir::NextResult;
using weir::Task;
using namespace std::chrono_literals;

namespace {

Coroutine::Script passing(Trace& trace, std::string name) {
    return [&trace, name](weir::Exchange&, Next next) -> Task<> {
        Guard guard(trace, name);
        trace.push_back(name + " in");
        const NextResult result = co_await next();
        trace.push_back(name + (result == NextResult::Ok ? " out" : result == NextResult::Failed ? " failed" : " other"));
    };
}

// Stands where httpClient does.
Coroutine::Script calling(Trace& trace) {
    return [&trace](weir::Exchange&, Next next) -> Task<> {
        const weir::Call result = co_await weir::Host().callUpstream();
        trace.push_back("called " + std::to_string(static_cast<int>(result)));
        co_await next();
    };
}

weir::Answer replyOk(weir::Exchange& exchange) { return exchange.reply(200, "body"); }

}  // namespace

TEST_CASE("plugins are entered in order and return in reverse order, then the response is committed once") {
    Harness h;
    h.coroutine("a", passing(h.trace, "a"));
    h.plain("p", [&h](weir::Exchange&) {
        h.trace.push_back("p");
        return Answer::Next;
    });
    h.coroutine("b", passing(h.trace, "b"));
    h.plain("end", replyOk);
    h.start();
    CHECK(h.trace == Trace{"a in", "p", "b in", "b out", "~b", "a out", "~a", "commit 200"});
    h.trace.clear();
    h.finish();
    CHECK(h.trace == Trace{"finished b ok", "finished a ok", "released"});
}

TEST_CASE("a plugin that replies ends the forward walk, the entered ones still return") {
    Harness h;
    h.coroutine("a", passing(h.trace, "a"));
    h.plain("deny", [](weir::Exchange& exchange) { return exchange.replyError(403, 403, "no"); });
    h.coroutine("b", passing(h.trace, "b"));
    h.start();
    CHECK(h.trace == Trace{"a in", "a out", "~a", "commit 403"});
    CHECK(h.exchange->response.body == R"({"code":403,"message":"no"})");
    h.finish();
    CHECK(h.trace.back() == "released");
}

TEST_CASE("a coroutine may reply instead of calling next") {
    Harness h;
    h.coroutine("a", passing(h.trace, "a"));
    h.coroutine("reply", [](weir::Exchange& exchange, Next) -> Task<> {
        exchange.reply(201, "made");
        co_return;
    });
    h.start();
    CHECK(h.exchange->response.head.status == 201);
    CHECK(h.exchange->response.body == "made");
    h.finish();
}

TEST_CASE("a return part that replies replaces the response, the frames further out see Ok") {
    Harness h;
    h.coroutine("outer", passing(h.trace, "outer"));
    h.coroutine("replace", [](weir::Exchange& exchange, Next next) -> Task<> {
        co_await next();
        exchange.reply(418, "teapot");
    });
    h.plain("end", replyOk);
    h.start();
    CHECK(h.trace == Trace{"outer in", "outer out", "~outer", "commit 418"});
    h.finish();
}

TEST_CASE("what a plugin sets on the response before an upstream answers stays, unless the upstream says the same") {
    Harness h;
    h.coroutine("early", [](weir::Exchange& exchange, Next next) -> Task<> {
        exchange.response().setHeader("x-early", "1");
        co_await next();
        exchange.response().setHeader("x-late", "2");
    });
    h.coroutine("client", calling(h.trace));
    h.start();
    h.answerCall();
    REQUIRE(h.committed());
    CHECK(h.exchange->response.head.fields.get("x-early") == "1");
    CHECK(h.exchange->response.head.fields.get("x-upstream") == "yes");
    CHECK(h.exchange->response.head.fields.get("x-late") == "2");
    h.finish();
}

TEST_CASE("ending without next and without a reply is a 500") {
    Harness h;
    h.coroutine("outer", passing(h.trace, "outer"));
    h.coroutine("silent", [](weir::Exchange&, Next) -> Task<> { co_return; });
    h.start();
    CHECK(h.trace == Trace{"outer in", "outer failed", "~outer", "commit 500"});
    CHECK(h.exchange->response.body.find("\"code\":-1") != std::string_view::npos);
    h.finish();
}

TEST_CASE("failures become error replies; frames further out see Failed until one replies") {
    struct Row {
        const char* what;
        std::function<void()> fail;
        int status;
        const char* body;
    };
    const Row rows[] = {
        {"any exception is a 500 whose text stays in the log", [] { throw std::runtime_error("secret detail"); }, 500,
         R"({"code":-1,"message":"Internal exception in gateway. Please try again later!"})"},
        {"weir::Error says status, code and text", [] { throw weir::Error(503, -119, "none left"); }, 503,
         R"({"code":-119,"message":"none left"})"},
        {"an exception of no known type too", [] { throw 7; }, 500,
         R"({"code":-1,"message":"Internal exception in gateway. Please try again later!"})"},
    };
    for (const Row& row : rows) {
        for (const bool afterNext : {false, true}) {
            INFO(row.what << (afterNext ? ", in the return part" : ", on the way in"));
            Harness h;
            h.coroutine("outermost", passing(h.trace, "outermost"));
            h.coroutine("outer", passing(h.trace, "outer"));
            h.coroutine("bad", [&](weir::Exchange&, Next next) -> Task<> {
                if (afterNext) co_await next();
                row.fail();
            });
            h.plain("end", replyOk);
            h.start();
            CHECK(h.trace == Trace{"outermost in", "outer in", "outer failed", "~outer", "outermost failed", "~outermost",
                                   "commit " + std::to_string(row.status)});
            CHECK(h.exchange->response.body == row.body);
            h.finish();
        }
    }
}

TEST_CASE("a frame that sees Failed may answer, and those further out see Ok") {
    Harness h;
    h.coroutine("outer", passing(h.trace, "outer"));
    h.coroutine("fallback", [](weir::Exchange& exchange, Next next) -> Task<> {
        if (co_await next() == NextResult::Failed) exchange.reply(200, "fallback");
    });
    h.plain("bad", [](weir::Exchange&) -> Answer { throw std::runtime_error("x"); });
    h.start();
    CHECK(h.trace == Trace{"outer in", "outer out", "~outer", "commit 200"});
    CHECK(h.exchange->response.body == "fallback");
    h.finish();
}

TEST_CASE("an exception from a plugin without a return part is a 500") {
    Harness h;
    h.plain("bad", [](weir::Exchange&) -> Answer { throw std::runtime_error("x"); });
    h.start();
    CHECK(h.exchange->response.head.status == 500);
    h.finish();
}

TEST_CASE("cancelling drops frames innermost first, resumes nothing and reports Aborted, wherever the exchange waits") {
    struct Row {
        const char* what;
        std::function<Coroutine::Script(Trace&)> inner;
        const char* cancelled;  // what the carrier is asked to stop; "" for nothing
    };
    const auto waiting = [](auto await) {
        return [await](Trace& trace) -> Coroutine::Script {
            return [&trace, await](weir::Exchange& exchange, Next) -> Task<> {
                Guard guard(trace, "inner");
                co_await await(exchange);
                trace.push_back("resumed");
            };
        };
    };
    const Row rows[] = {
        {"an upstream call", waiting([](weir::Exchange&) { return weir::Host().callUpstream(); }), "cancel call"},
        {"a sleep", waiting([](weir::Exchange&) { return weir::Host().sleep(1h); }), ""},
        {"a request body", waiting([](weir::Exchange& e) { return e.request().body(10); }), "cancel body"},
        {"a call in a nested task",
         [](Trace& trace) -> Coroutine::Script {
             return [&trace](weir::Exchange& exchange, Next) -> Task<> {
                 Guard guard(trace, "inner");
                 const auto nested = [](weir::Exchange&, Trace& t) -> Task<int> {
                     Guard deeper(t, "nested");
                     co_await weir::Host().callUpstream();
                     co_return 1;
                 };
                 co_await nested(exchange, trace);
                 trace.push_back("resumed");
             };
         },
         "cancel call"},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        Harness h;
        h.coroutine("outer", passing(h.trace, "outer"));
        h.coroutine("inner", row.inner(h.trace));
        h.start(BodyState::Streaming);
        REQUIRE(h.exchange->running());
        const weir_operation stale = h.call;
        h.trace.clear();
        h.exchange->cancel();
        Trace expected;
        if (*row.cancelled) expected.push_back(row.cancelled);
        if (std::string(row.what).find("nested") != std::string::npos) expected.push_back("~nested");
        for (const char* line : {"~inner", "~outer", "finished inner aborted", "finished outer aborted", "released"})
            expected.push_back(line);
        CHECK(h.trace == expected);
        CHECK(h.exchange == nullptr);
        (void)stale;
    }
}

TEST_CASE("a client that goes after commit is told to finished() as Aborted") {
    Harness h;
    h.coroutine("a", passing(h.trace, "a"));
    h.plain("end", replyOk);
    h.start();
    h.trace.clear();
    h.exchange->finish(WEIR_FINISH_ABORTED);
    CHECK(h.trace == Trace{"finished a aborted", "released"});
}

TEST_CASE("a timeout drops what is behind, undoes it, and a second next walks again") {
    Harness h;
    int walks = 0;
    h.coroutine("breaker", [&](weir::Exchange& exchange, Next next) -> Task<> {
        exchange.request().setHeader("x-mine", "before");
        exchange.setSlot(weir::Slot::RealUrl, "/before");
        exchange.setAttribute(1, "before");
        const NextResult first = co_await next(50ms);
        h.trace.push_back(first == NextResult::TimedOut ? "timed out" : "wrong");
        CHECK(exchange.request().header("x-mine") == "before");
        CHECK(exchange.request().header("x-inner") == std::nullopt);
        CHECK(exchange.response().header("x-inner") == std::nullopt);
        CHECK(exchange.response().status() == 0);
        CHECK(exchange.slot(weir::Slot::RealUrl) == "/before");
        CHECK(exchange.attribute(1) == "before");
        CHECK_FALSE(exchange.route().has_value());
        exchange.request().setHeader("x-mine", "again");
        const NextResult second = co_await next(10s);
        h.trace.push_back(second == NextResult::Ok ? "second ok" : "wrong");
    });
    h.coroutine("inner", [&](weir::Exchange& exchange, Next next) -> Task<> {
        Guard guard(h.trace, "inner");
        CHECK(exchange.request().header("x-mine") == (walks++ == 0 ? "before" : "again"));
        exchange.request().setHeader("x-inner", "1");
        exchange.request().removeHeader("x-mine");
        exchange.response().setHeader("x-inner", "1");
        exchange.setSlot(weir::Slot::RealUrl, "/inner");
        exchange.setAttribute(1, "inner");
        weir_route route{};
        route.size = sizeof route;
        exchange.setRoute(route);
        co_await next();
    });
    h.coroutine("client", [&](weir::Exchange&, Next next) -> Task<> {
        Guard guard(h.trace, "client");
        co_await weir::Host().callUpstream();
        co_await next();
    });
    h.start();
    const weir_operation stale = h.call;
    h.spinUntil([&] { return h.calls == 2; });
    CHECK(h.trace == Trace{"call", "cancel call", "~client", "~inner", "timed out", "call"});
    h.exchange->complete(stale, WEIR_CALL_OK);  // too late: nobody waits for this one any more
    CHECK(h.exchange->running());
    h.trace.clear();
    h.answerCall();
    CHECK(h.trace == Trace{"~client", "~inner", "second ok", "commit 200"});
    h.trace.clear();
    h.finish();
    CHECK(h.trace == Trace{"finished client ok", "finished inner ok", "finished breaker ok", "released"});
}

TEST_CASE("a second next after an answer starts from the state of the first") {
    Harness h;
    h.coroutine("retry", [&](weir::Exchange& exchange, Next next) -> Task<> {
        co_await next();
        CHECK(exchange.response().status() == 503);
        co_await next();
        CHECK(exchange.response().status() == 200);
    });
    h.coroutine("client", calling(h.trace));
    h.start();
    h.answerCall(503);
    REQUIRE(h.calls == 2);
    CHECK(h.exchange->response.head.status == 0);
    CHECK(h.exchange->response.head.fields.get("x-upstream").data() == nullptr);
    h.answerCall(200);
    CHECK(h.exchange->response.head.fields.count() == 1);
    h.finish();
}

TEST_CASE("each walk begins with the slots that its frames have set, whatever those behind have made of them") {
    constexpr weir::Slot kSlot = weir::Slot::Module;
    Harness h;
    int ends = 0;
    h.coroutine("outer", [&](weir::Exchange& exchange, Next next) -> Task<> {
        exchange.setSlot(kSlot, "outer");
        co_await next();
        CHECK(exchange.slot(kSlot) == "end");
        exchange.setSlot(kSlot, "lost");
        co_await next();
        CHECK(exchange.slot(kSlot) == "end");
    });
    h.coroutine("middle", [&](weir::Exchange& exchange, Next next) -> Task<> {
        CHECK(exchange.slot(kSlot) == "outer");
        co_await next();
        exchange.setSlot(kSlot, "lost");
        co_await next();
    });
    h.plain("inner", [&](weir::Exchange& exchange) {
        CHECK(exchange.slot(kSlot) == "outer");
        exchange.setSlot(kSlot, "inner");
        return Answer::Next;
    });
    h.plain("end", [&](weir::Exchange& exchange) {
        CHECK(exchange.slot(kSlot) == "inner");
        exchange.setSlot(kSlot, "end");
        ++ends;
        return exchange.reply(200, "body");
    });
    h.start();
    CHECK(ends == 4);
    h.finish();
}

TEST_CASE("a second next needs a body that can be sent again") {
    struct Row {
        BodyState state;
        bool taken;
        NextResult expected;
    };
    const Row rows[] = {{BodyState::Absent, false, NextResult::Ok},
                        {BodyState::Streaming, false, NextResult::NotReplayable},
                        {BodyState::Streaming, true, NextResult::NotReplayable},
                        {BodyState::Buffered, false, NextResult::Ok}};
    for (const Row& row : rows) {
        Harness h;
        NextResult second = NextResult::Failed;
        h.coroutine("retry", [&](weir::Exchange&, Next next) -> Task<> {
            co_await next();
            second = co_await next();
        });
        h.plain("end", [&](weir::Exchange& exchange) {
            if (row.taken) h.exchange->bodyState = BodyState::Taken;
            return exchange.reply(200, "");
        });
        h.start(row.state);
        CHECK(second == row.expected);
        h.finish();
    }
}

TEST_CASE("a body that was read whole makes a second walk possible") {
    Harness h;
    std::string seen;
    NextResult second = NextResult::Failed;
    h.coroutine("reader", [&](weir::Exchange& exchange, Next next) -> Task<> {
        seen = co_await exchange.request().body(1000);
        co_await next();
        second = co_await next();
    });
    h.plain("end", replyOk);
    h.start(BodyState::Streaming);
    REQUIRE(h.body != 0);
    h.exchange->complete(h.body, WEIR_OK, "a long body that does not fit a small string buffer");
    CHECK(seen == "a long body that does not fit a small string buffer");
    CHECK(second == NextResult::Ok);
    h.finish();
}

TEST_CASE("a body past its limit ends the request with 413, also when it was buffered before") {
    for (const bool buffered : {false, true}) {
        Harness h;
        h.coroutine("reader", [&](weir::Exchange& exchange, Next next) -> Task<> {
            if (buffered) co_await exchange.request().body(100);
            co_await exchange.request().body(2);
            co_await next();
        });
        h.start(BodyState::Streaming);
        if (buffered) h.exchange->complete(h.body, WEIR_OK, "long");
        else h.exchange->complete(h.body, WEIR_TOO_LARGE);
        CHECK(h.exchange->response.head.status == 413);
        h.finish();
    }
}

TEST_CASE("offloaded work runs elsewhere, its result and its failure come back to the loop") {
    Harness h;
    std::string failure;
    h.coroutine("worker", [&](weir::Exchange& exchange, Next) -> Task<> {
        const auto here = std::this_thread::get_id();
        std::string local(200, 'x');
        const std::string result = co_await weir::Host().offload([&local, here] {
            if (std::this_thread::get_id() == here) throw std::runtime_error("on the loop");
            return local + "y";
        });
        try {
            co_await weir::Host().offload([]() -> int { throw weir::Error(502, 9, "a reason that is long enough to allocate"); });
        } catch (const weir::Error& error) {
            failure = error.what();
            CHECK(error.status() == 502);
        }
        exchange.reply(200, result);
    });
    h.start();
    h.spinUntil([&] { return h.committed(); });
    REQUIRE(h.committed());
    CHECK(h.exchange->response.body.size() == 201);
    CHECK(failure == "a reason that is long enough to allocate");
    h.finish();
}

TEST_CASE("cancelling waits for offloaded work: frames live until it is done") {
    Harness h;
    std::atomic<bool> go{false};
    h.coroutine("outer", passing(h.trace, "outer"));
    h.coroutine("worker", [&](weir::Exchange&, Next) -> Task<> {
        Guard guard(h.trace, "worker");
        std::string local(100, 'l');
        co_await weir::Host().offload([&] {
            while (!go) std::this_thread::yield();
            local += "still there";
        });
        h.trace.push_back("resumed");
    });
    h.start();
    h.trace.clear();
    h.exchange->cancel();
    CHECK(h.trace.empty());
    go = true;
    h.spinUntil([&] { return h.exchange == nullptr; });
    CHECK(h.trace == Trace{"~worker", "~outer", "finished worker aborted", "finished outer aborted", "released"});
}

TEST_CASE("a deadline that passes while work is offloaded takes effect when the work is done") {
    Harness h;
    std::atomic<bool> go{false};
    h.coroutine("outer", [&](weir::Exchange& exchange, Next next) -> Task<> {
        if (co_await next(30ms) == NextResult::TimedOut) exchange.reply(504, "");
    });
    h.coroutine("middle", [&](weir::Exchange&, Next next) -> Task<> {
        co_await next(20ms);
        h.trace.push_back("middle resumed");
    });
    h.coroutine("worker", [&](weir::Exchange&, Next) -> Task<> {
        Guard guard(h.trace, "worker");
        co_await weir::Host().offload([&] {
            while (!go) std::this_thread::yield();
        });
        h.trace.push_back("worker resumed");
    });
    h.start();
    const auto end = std::chrono::steady_clock::now() + 150ms;
    h.spinUntil([&] { return std::chrono::steady_clock::now() > end; });
    CHECK(h.trace.empty());
    go = true;
    h.spinUntil([&] { return h.committed(); });
    CHECK(h.trace == Trace{"~worker", "commit 504"});
    h.finish();
}

TEST_CASE("a sleep resumes its coroutine, not before its time") {
    Harness h;
    const auto begin = std::chrono::steady_clock::now();
    h.coroutine("sleeper", [](weir::Exchange& exchange, Next) -> Task<> {
        co_await weir::Host().sleep(40ms);
        exchange.reply(200, "");
    });
    h.start();
    CHECK_FALSE(h.committed());
    h.spinUntil([&] { return h.committed(); });
    CHECK(std::chrono::steady_clock::now() - begin >= 40ms);
    h.finish();
}

TEST_CASE("nested tasks return values, rethrow errors at the await, and need no stack") {
    Harness h;
    struct Tasks {
        static Task<int> depth(weir::Exchange& exchange, int n) {
            if (n == 0) co_return 0;
            co_return 1 + co_await depth(exchange, n - 1);
        }
        static Task<std::string> throws(weir::Exchange&) {
            throw std::runtime_error("inner text that is long enough to be allocated");
            co_return "";
        }
        static Task<std::string> withoutExchange(std::string text) { co_return text + "!"; }
    };
    std::string caught;
    h.coroutine("nested", [&](weir::Exchange& exchange, Next) -> Task<> {
        CHECK(co_await Tasks::depth(exchange, 20000) == 20000);
        try {
            co_await Tasks::throws(exchange);
        } catch (const weir::Error& error) {
            caught = error.what();
        }
        exchange.reply(200, co_await Tasks::withoutExchange(std::string(100, 'w')));
    });
    h.start();
    CHECK(caught == "inner text that is long enough to be allocated");
    CHECK(h.exchange->response.body.size() == 101);
    h.finish();
}

TEST_CASE("frames are recycled within an exchange: a million calls need no more memory than one") {
    Harness h;
    struct Tasks {
        static Task<int> one(weir::Exchange&) { co_return 1; }
    };
    std::size_t chunks = 0;
    h.coroutine("loop", [&](weir::Exchange& exchange, Next) -> Task<> {
        int sum = 0;
        for (int i = 0; i < 1000000; ++i) sum += co_await Tasks::one(exchange);
        chunks = h.context().chunks.inUse();
        exchange.reply(200, std::to_string(sum));
    });
    h.start();
    CHECK(h.exchange->response.body == "1000000");
    CHECK(chunks <= 2);
    h.finish();
    CHECK(h.context().chunks.inUse() == 0);
}

TEST_CASE("a module that breaks the rules gets a 500, not the gateway") {
    const auto base = [] {
        weir_plugin table{};
        table.size = sizeof table;
        table.drop = [](void*, weir_exchange*, weir_frame*) {};
        return table;
    };
    weir_plugin suspends = base();
    suspends.enter = [](void*, weir_exchange*, const weir_match*, weir_outcome* out) -> std::int32_t {
        out->frame = reinterpret_cast<weir_frame*>(out);
        return WEIR_SUSPENDED;
    };
    weir_plugin babbles = base();
    babbles.enter = [](void*, weir_exchange*, const weir_match*, weir_outcome*) -> std::int32_t { return 99; };
    weir_plugin leaves = base();  // starts a call, then says it is through
    leaves.enter = [](void*, weir_exchange* exchange, const weir_match*, weir_outcome*) -> std::int32_t {
        weir::detail::hostTable->upstream_call(exchange);
        return WEIR_DONE;
    };
    weir_plugin offloads = base();  // the same with work that still runs
    offloads.enter = [](void*, weir_exchange* exchange, const weir_match*, weir_outcome*) -> std::int32_t {
        weir::detail::hostTable->offload(exchange, [](void*) { std::this_thread::sleep_for(20ms); }, nullptr);
        return WEIR_DONE;
    };
    for (const weir_plugin* table : {&suspends, &babbles, &leaves, &offloads}) {
        Harness h;
        h.raw("bad", *table, nullptr);
        h.start();
        REQUIRE(h.committed());
        CHECK(h.exchange->response.head.status == 500);
        h.finish();
        CHECK(h.exchange == nullptr);
    }
}

TEST_CASE("an operation outside enter and resume is not started") {
    Harness h;
    h.plain("end", replyOk);
    h.start();
    CHECK(h.exchange->startSleep(1) == 0);
    CHECK(h.exchange->startUpstreamCall() == 0);
    h.finish();
}

TEST_CASE("plugins are entered for their rpc types only") {
    Harness h;
    h.plain("classify", [](weir::Exchange& exchange) {
        exchange.setSlot(weir::Slot::RpcType, "dubbo");
        return Answer::Next;
    });
    h.plain("http", [&](weir::Exchange&) {
        h.trace.push_back("http");
        return Answer::Next;
    });
    h.plain("dubbo", [&](weir::Exchange& exchange) {
        h.trace.push_back("dubbo");
        return exchange.reply(200, "");
    });
    h.entry(1).rpcTypes = rpcBit("http");
    h.entry(2).rpcTypes = rpcBit("dubbo") | rpcBit("grpc");
    h.start();
    CHECK(h.trace == Trace{"dubbo", "commit 200"});
    h.finish();
}

TEST_CASE("a rule plugin that must match answers ShenYu's codes when nothing does") {
    using weir::match::SelectorSpec;
    struct Row {
        std::vector<SelectorSpec> selectors;
        const char* body;
    };
    SelectorSpec full;
    full.id = full.name = "s";
    full.type = 0;
    const Row rows[] = {
        {{}, R"({"code":-107,"message":"divide:Can not find selector, please check your configuration!"})"},
        {{full}, R"({"code":-102,"message":"divide:Rule not found!"})"},
    };
    for (const Row& row : rows) {
        for (const bool mustMatch : {true, false}) {
            Harness h;
            std::vector<weir::match::PluginMatcher::Entry> entries;
            for (const SelectorSpec& spec : row.selectors) {
                auto compiled = weir::match::compile(spec, {});
                REQUIRE(compiled.ok());
                entries.push_back({*compiled, nullptr});
            }
            const auto matcher = weir::match::PluginMatcher::build(std::move(entries), weir::match::Order::Best);
            h.plain("divide", [](weir::Exchange& exchange) { return exchange.reply(599, ""); });
            h.plain("end", replyOk);
            h.entry(0).matches = true;
            h.entry(0).unmatchedError = mustMatch;
            h.entry(0).matcher = matcher.get();
            h.start();
            CHECK(h.exchange->response.head.status == (mustMatch ? 404 : 200));
            if (mustMatch) CHECK(h.exchange->response.body == row.body);
            h.finish();
        }
    }
}

TEST_CASE("a request keeps the snapshot it began with; the last user gives it back") {
    Harness h;
    h.coroutine("client", calling(h.trace));
    h.start();
    std::weak_ptr<const Snapshot> old = h.snapshot;
    h.snapshot = std::make_shared<Snapshot>();
    h.context().switchTo(h.snapshot);
    CHECK(h.returned.empty());
    h.answerCall();
    h.finish();
    REQUIRE(h.returned.size() == 1);
    CHECK(h.returned[0] == old.lock());
}

TEST_CASE("headers that would break framing or smuggle a line are refused") {
    struct Row {
        const char* name;
        const char* value;
        bool good;
    };
    const Row rows[] = {{"x-ok", "v\tw", true},        {"Content-Length", "5", false}, {"connection", "close", false},
                        {"Transfer-Encoding", "chunked", false}, {"x bad", "v", false},  {"x-bad", "v\r\nx-evil: 1", false},
                        {"", "v", false},               {"x-nul", "a\x01", false}};
    Harness h;
    h.plain("edit", [&](weir::Exchange& exchange) {
        for (const Row& row : rows) {
            CHECK(exchange.request().setHeader(row.name, row.value) == row.good);
            CHECK(exchange.response().addHeader(row.name, row.value) == row.good);
        }
        return exchange.reply(200, "");
    });
    h.start();
    h.finish();
}

TEST_CASE("a second call takes the place of the first one's answer") {
    Harness h;
    h.coroutine("client", [&](weir::Exchange& exchange, Next next) -> Task<> {
        co_await weir::Host().callUpstream();
        const weir::Call second = co_await weir::Host().callUpstream();
        CHECK(second == weir::Call::Refused);
        CHECK(exchange.response().status() == 0);
        CHECK_FALSE(exchange.response().header("x-upstream").has_value());
        co_await next();
    });
    h.plain("end", replyOk);
    h.start();
    h.answerCall();
    REQUIRE(h.calls == 2);
    h.exchange->complete(h.call, WEIR_CALL_REFUSED);
    CHECK(h.trace == Trace{"call", "cancel call", "call", "commit 200"});
    h.finish();
}

TEST_CASE("what a plugin began and did not wait for is not reported to the next one") {
    Harness h;
    h.plain("hasty", [&](weir::Exchange&) {
        CHECK(h.exchange->startReadBody(10) != 0);  // there is none: over at once
        return Answer::Next;
    });
    h.coroutine("client", calling(h.trace));
    h.plain("end", replyOk);
    h.start();
    CHECK(h.trace == Trace{"call"});
    h.exchange->complete(h.call, WEIR_CALL_REFUSED);
    CHECK(h.trace == Trace{"call", "called 1", "commit 200"});
    h.finish();
}

TEST_CASE("a deadline behind the call takes back what came after it, not the upstream's answer") {
    Harness h;
    h.coroutine("client", calling(h.trace));
    h.coroutine("late", [&](weir::Exchange& exchange, Next next) -> Task<> {
        const NextResult result = co_await next(std::chrono::milliseconds(20));
        CHECK(result == NextResult::TimedOut);
        CHECK(exchange.response().status() == 200);
    });
    h.coroutine("slow", [&](weir::Exchange& exchange, Next) -> Task<> {
        exchange.response().setStatus(299);
        co_await weir::Host().sleep(std::chrono::hours(1));
    });
    h.start();
    h.answerCall();
    h.spinUntil([&] { return h.committed(); });
    CHECK(h.trace == Trace{"call", "called 0", "commit 200"});
    CHECK(h.exchange->response.source == ResponseSource::Upstream);
    h.finish();
}

TEST_CASE("a second next behind a call whose answer was replaced finds no response") {
    Harness h;
    int walks = 0;
    h.coroutine("client", calling(h.trace));
    h.coroutine("again", [&](weir::Exchange& exchange, Next next) -> Task<> {
        co_await next();
        CHECK(exchange.response().status() == 503);
        co_await next();
        CHECK(exchange.response().status() == 0);
        CHECK(exchange.callResult() == weir::Call::Reset);
        exchange.reply(500, "none");
    });
    h.plain("deny", [&](weir::Exchange& exchange) {
        return ++walks == 1 ? exchange.replyError(503, 503, "no") : Answer::Next;
    });
    h.start();
    h.answerCall();
    CHECK(walks == 2);
    CHECK(h.exchange->response.source == ResponseSource::Local);
    h.finish();
}

TEST_CASE("a request that is sent through the chain again begins anew, and the plugins entered before are dropped") {
    Harness h;
    h.coroutine("a", passing(h.trace, "a"));
    h.coroutine("b", passing(h.trace, "b"));
    h.plain("redirect", [](weir::Exchange& exchange) {
        return exchange.request().path() == "/path" ? exchange.redispatch("/new?q=1") : Answer::Next;
    });
    h.plain("end", replyOk);
    h.start();
    CHECK(h.trace == Trace{"a in", "b in", "~b", "~a", "a in", "b in", "b out", "~b", "a out", "~a", "commit 200"});
    CHECK(h.exchange->request.path == "/new");
    CHECK(h.exchange->request.query == "q=1");
    CHECK(h.exchange->request.target == "/path");
    h.trace.clear();
    h.finish();
    CHECK(h.trace == Trace{"finished b ok", "finished a ok", "released"});
}

TEST_CASE("a second walk from the start sees the request as it came, but for the attributes") {
    struct Row { const char* target; const char* query; };
    const Row rows[] = {{"/new", nullptr}, {"/new?", ""}, {"/new?own=1", "own=1"}};
    for (const Row& row : rows) {
        INFO(row.target);
        Harness h;
        h.plain("before", [&h, &row](weir::Exchange& exchange) {
            if (exchange.request().path() == "/path") {
                exchange.request().setQuery("edited");
                exchange.request().setHeader("x-request", "edited");
                exchange.response().setHeader("x-response", "edited");
                exchange.setSlot(weir::Slot::RealUrl, "/real");
                exchange.setSlot(weir::Slot::RpcType, "dubbo");
                exchange.setAttribute(7, "kept");
                exchange.preserveHost();
                exchange.allowUpgrade();
                exchange.setRoute({});
                exchange.reply(500, "of before");
                return exchange.redispatch(row.target);
            }
            CHECK(exchange.request().query() == (row.query ? row.query : ""));
            CHECK((exchange.request().query().data() != nullptr) == (row.query != nullptr));
            CHECK_FALSE(exchange.request().header("x-request"));
            CHECK_FALSE(exchange.response().header("x-response"));
            CHECK_FALSE(exchange.response().header("Content-Type"));
            CHECK(exchange.response().status() == 0);
            CHECK_FALSE(exchange.slot(weir::Slot::RealUrl).data());
            CHECK_FALSE(exchange.slot(weir::Slot::RpcType).data());
            CHECK(exchange.attribute(7) == "kept");
            CHECK_FALSE(exchange.route());
            CHECK_FALSE(h.exchange->preserveHost);
            CHECK_FALSE(h.exchange->upgradeAllowed);
            h.trace.push_back("again");
            return Answer::Next;
        });
        h.entry(0).rpcTypes = rpcBit("http") | rpcBit("dubbo");
        h.plain("end", replyOk);
        h.start();
        CHECK(h.trace == Trace{"again", "commit 200"});
        h.finish();
    }
}

TEST_CASE("a request goes through the chain again five times and not more often") {
    Harness h;
    int entered = 0;
    h.plain("redirect", [&entered](weir::Exchange& exchange) {
        ++entered;
        return exchange.redispatch("/loop");
    });
    h.start();
    CHECK(entered == 6);
    CHECK(h.trace == Trace{"commit 500"});
    h.finish();
}

TEST_CASE("a return part that sends the request through the chain again drops the upstream's answer") {
    Harness h;
    h.coroutine("again", [](weir::Exchange& exchange, Next next) -> Task<> {
        if (exchange.request().path() == "/new") co_return void(exchange.reply(200, "new"));
        co_await next();
        exchange.redispatch("/new");
    });
    h.coroutine("call", calling(h.trace));
    h.start();
    h.answerCall(503);
    CHECK(h.trace == Trace{"call", "called 0", "cancel call", "commit 200"});
    CHECK_FALSE(h.exchange->response.head.fields.get("x-upstream").data());
    h.finish();
}

TEST_CASE("a request whose body is gone, or a target that is none, is not sent through the chain again") {
    struct Row { BodyState body; const char* target; int status; };
    const Row rows[] = {
        {BodyState::Absent, "/new", 200},
        {BodyState::Streaming, "/new", 200},
        {BodyState::Buffered, "/new", 200},
        {BodyState::Taken, "/new", 500},
        {BodyState::Absent, "", 500},
        {BodyState::Absent, "new", 500},
        {BodyState::Absent, "/a b", 500},
        {BodyState::Absent, "/a#b", 500},
        {BodyState::Absent, "/\xc3\xa4", 500},
    };
    for (const Row& row : rows) {
        INFO(row.target);
        Harness h;
        h.plain("redirect", [&row](weir::Exchange& exchange) {
            return exchange.request().path() == "/path" ? exchange.redispatch(row.target) : Answer::Next;
        });
        h.plain("end", replyOk);
        h.start(row.body);
        CHECK(h.trace == Trace{"commit " + std::to_string(row.status)});
        h.finish();
    }
}

TEST_CASE("of a reply and a new target, the one that was set last counts") {
    Harness h;
    h.plain("redirect", [](weir::Exchange& exchange) {
        exchange.redispatch("/new");
        return exchange.replyError(403, 403, "no");
    });
    h.start();
    CHECK(h.trace == Trace{"commit 403"});
    h.finish();
}

TEST_CASE("a plugin's part in a request is counted once it is entered and once it has ended") {
    struct Row {
        const char* what;
        const char* ends;  // how the middle one of three plugins behaves
        std::array<int, 5> counts;  // entered, forwarded, replied, failed, dropped
    };
    const Row rows[] = {
        {"no return part", "next", {1, 1, 0, 0, 0}},
        {"a return part", "await", {1, 1, 0, 0, 0}},
        {"a reply instead of going on", "reply", {1, 0, 1, 0, 0}},
        {"a reply on the way back", "replace", {1, 0, 1, 0, 0}},
        {"an exception", "throw", {1, 0, 0, 1, 0}},
        {"neither", "nothing", {1, 0, 0, 1, 0}},
        {"a client that goes", "wait", {1, 0, 0, 0, 1}},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        const std::string ends = row.ends;
        std::array<PluginCounters, 2> counters;
        Harness h;
        h.context().number = 1;
        h.coroutine("outer", passing(h.trace, "outer"));
        if (ends == "next") {
            h.plain("middle", [](weir::Exchange&) { return Answer::Next; });
        } else {
            h.coroutine("middle", [ends](weir::Exchange& exchange, Next next) -> Task<> {
                if (ends == "throw") throw std::runtime_error("secret detail");
                if (ends == "nothing") co_return;
                if (ends == "wait") co_await weir::Host().sleep(1h);
                if (ends != "reply") co_await next();
                if (ends != "await") exchange.reply(201, "");
            });
        }
        h.plain("end", replyOk);
        h.entry(1).counters = counters.data();
        h.start();
        if (ends == "wait") h.exchange->cancel();
        const PluginCounters& counted = counters[1];
        const std::array<std::uint64_t, 5> found{counted.entered, counted.forwarded, counted.replied, counted.failed,
                                                 counted.dropped};
        for (std::size_t i = 0; i < found.size(); ++i) {
            INFO("count " << i);
            CHECK(found[i] == static_cast<std::uint64_t>(row.counts[i]));
        }
        CHECK(counters[0].entered == std::uint64_t{0});
        if (h.exchange) h.finish();
    }
}

TEST_CASE("a query that a plugin sets is the request's from then on, and that of a walk is gone with it") {
    Harness h;
    std::vector<std::string> seen;
    h.coroutine("twice", [](weir::Exchange&, Next next) -> Task<> {
        co_await next();
        co_await next();
    });
    h.plain("edit", [&seen](weir::Exchange& exchange) {
        weir::Request request = exchange.request();
        seen.emplace_back(request.query().data() ? request.query() : "(none)");
        CHECK(request.setQuery("a=%41&b"));
        for (const char* bad : {"a b", "a#b", "a\r\nb", "\xc3\xa9"}) CHECK_FALSE(request.setQuery(bad));
        seen.emplace_back(request.query());
        CHECK(request.setQuery({}));
        CHECK(request.query().data() == nullptr);
        return Answer::Next;
    });
    h.plain("end", replyOk);
    h.start();
    CHECK(seen == std::vector<std::string>{"(none)", "a=%41&b", "(none)", "a=%41&b"});
    h.finish();
}
