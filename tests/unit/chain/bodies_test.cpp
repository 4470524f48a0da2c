// Bodies that plugins read whole and replace.
#include <stdexcept>

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

// Stands where httpClient does.
Coroutine::Script calling() {
    return [](weir::Exchange&, Next next) -> Task<> {
        (void)co_await weir::Host().callUpstream();
        co_await next();
    };
}

// Reads the response in its return part and puts brackets around it.
Coroutine::Script bracketing(Trace& trace, std::size_t limit = 100) {
    return [&trace, limit](weir::Exchange& exchange, Next next) -> Task<> {
        co_await next();
        const std::optional<std::string_view> body = co_await exchange.response().body(limit);
        trace.push_back(body ? "read '" + std::string(*body) + "'" : "not read");
        if (body) trace.push_back(exchange.response().setBody("[" + std::string(*body) + "]") ? "set" : "not set");
    };
}

void answer(Harness& h, int status = 200, weir::http::BodyKind body = weir::http::BodyKind::Length) {
    h.exchange->response.head.body = body;
    h.answerCall(status);
}

}  // namespace

TEST_CASE("a plugin reads the response's body whole and gives another") {
    Harness h;
    h.coroutine("edit", bracketing(h.trace));
    h.coroutine("call", calling());
    h.start();
    answer(h);
    CHECK_FALSE(h.committed());
    h.exchange->complete(h.body, WEIR_OK, "abc");
    CHECK(h.trace == Trace{"call", "read 'abc'", "set", "commit 200"});
    CHECK(h.exchange->response.source == ResponseSource::Whole);
    CHECK(h.exchange->response.body == "[abc]");
    CHECK(h.exchange->response.head.fields.get("x-upstream") == "yes");
    h.finish();
}

TEST_CASE("a body that was read stays when nobody gives another, and a second reader has it at once") {
    Harness h;
    const auto reading = [&h](weir::Exchange& exchange, Next next) -> Task<> {
        co_await next();
        h.trace.push_back(std::string(*co_await exchange.response().body(100)));
        h.trace.push_back(co_await exchange.response().body(2) ? "short" : "too long");
    };
    h.coroutine("outer", reading);
    h.coroutine("inner", reading);
    h.coroutine("call", calling());
    h.start();
    answer(h);
    h.exchange->complete(h.body, WEIR_OK, "abc");
    CHECK(h.trace == Trace{"call", "abc", "too long", "abc", "too long", "commit 200"});
    CHECK(h.exchange->response.body == "abc");
    h.finish();
}

TEST_CASE("a response that is too long to read goes on streaming") {
    Harness h;
    h.coroutine("edit", bracketing(h.trace));
    h.coroutine("call", calling());
    h.start();
    answer(h);
    h.exchange->complete(h.body, WEIR_TOO_LARGE);
    CHECK(h.trace == Trace{"call", "not read", "commit 200"});
    CHECK(h.exchange->response.streams());
    h.finish();
}

TEST_CASE("a response that breaks off while a plugin reads it is a 502") {
    Harness h;
    h.coroutine("edit", bracketing(h.trace));
    h.coroutine("call", calling());
    h.start();
    answer(h);
    h.exchange->complete(h.body, WEIR_IO);
    CHECK(h.trace == Trace{"call", "commit 502"});
    CHECK(h.exchange->response.body.find("-103") != std::string_view::npos);
    CHECK(h.exchange->callResult == WEIR_CALL_RESET);
    CHECK(h.exchange->response.head.fields.get("x-upstream").empty());
    h.finish();
}

TEST_CASE("a response without a body is read as empty, keeps its head, and takes none") {
    struct Row {
        const char* method;
        int status;
        weir::http::BodyKind body;
        Trace expected;
    };
    using Kind = weir::http::BodyKind;
    const Row rows[] = {
        {"HEAD", 200, Kind::None, {"call", "read ''", "not set", "commit 200"}},
        {"GET", 204, Kind::None, {"call", "read ''", "not set", "commit 204"}},
        {"GET", 304, Kind::None, {"call", "read ''", "not set", "commit 304"}},
        {"GET", 101, Kind::None, {"call", "not read", "commit 101"}},
    };
    for (const Row& row : rows) {
        INFO(row.method << " " << row.status);
        Harness h;
        h.plain("method", [&h, &row](weir::Exchange&) {
            h.exchange->request.method = row.method;
            return Answer::Next;
        });
        h.coroutine("edit", bracketing(h.trace));
        h.coroutine("call", calling());
        h.start();
        answer(h, row.status, row.body);
        CHECK(h.trace == row.expected);
        CHECK(h.exchange->response.streams());
        h.finish();
    }
}

TEST_CASE("a reply's body can be read and replaced, and where there is no response there is none to set") {
    Harness h;
    h.coroutine("edit", bracketing(h.trace));
    h.plain("early", [&h](weir::Exchange& exchange) {
        h.trace.push_back(exchange.response().setBody("x") ? "set" : "no response yet");
        return exchange.reply(200, "hello");
    });
    h.start();
    CHECK(h.trace == Trace{"no response yet", "read 'hello'", "set", "commit 200"});
    CHECK(h.exchange->response.body == "[hello]");
    h.finish();
}

TEST_CASE("another body in place of one that nobody read cancels the call") {
    Harness h;
    h.coroutine("edit", [](weir::Exchange& exchange, Next next) -> Task<> {
        co_await next();
        exchange.response().setBody("other");
    });
    h.coroutine("call", calling());
    h.start();
    answer(h);
    CHECK(h.trace == Trace{"call", "cancel call", "commit 200"});
    CHECK(h.exchange->response.body == "other");
    h.finish();
}

TEST_CASE("a client that leaves while the response is read ends the reading") {
    Harness h;
    h.coroutine("edit", bracketing(h.trace));
    h.coroutine("call", calling());
    h.start();
    answer(h);
    h.exchange->cancel();
    CHECK(h.trace.at(1) == "cancel response");
    CHECK(h.trace.back() == "released");
}

TEST_CASE("a deadline that passes while the response is read drops the response") {
    Harness h;
    h.coroutine("outer", [&h](weir::Exchange& exchange, Next next) -> Task<> {
        const NextResult result = co_await next(20ms);
        h.trace.push_back(result == NextResult::TimedOut ? "timed out" : "in time");
        exchange.reply(504, "late");
    });
    h.coroutine("edit", bracketing(h.trace));
    h.coroutine("call", calling());
    h.start();
    answer(h);
    h.spinUntil([&h] { return h.committed(); });
    CHECK(h.trace.at(1) == "cancel response");
    CHECK(h.trace.back() == "commit 504");
    CHECK(h.exchange->response.head.fields.get("x-upstream").empty());
    h.finish();
}

TEST_CASE("a plugin gives the request another body, unless bytes of the old one may be gone") {
    struct Row {
        BodyState state;
        bool taken;
        const char* body;
    };
    const Row rows[] = {
        {BodyState::Absent, true, "other"},
        {BodyState::Buffered, true, "other"},
        {BodyState::Streaming, false, ""},
        {BodyState::Taken, false, ""},
    };
    for (const Row& row : rows) {
        INFO(static_cast<int>(row.state));
        Harness h;
        bool taken = false;
        h.plain("edit", [&taken](weir::Exchange& exchange) {
            taken = exchange.request().setBody("other");
            return Answer::Next;
        });
        h.coroutine("call", calling());
        h.start(row.state);
        CHECK(taken == row.taken);
        CHECK(h.exchange->bufferedBody == row.body);
        if (row.taken) CHECK(h.exchange->bodyState == BodyState::Buffered);
        h.exchange->cancel();
    }
}

TEST_CASE("a second walk has the request's body that the first one began with") {
    for (const BodyState state : {BodyState::Absent, BodyState::Buffered}) {
        Harness h;
        h.coroutine("twice", [](weir::Exchange&, Next next) -> Task<> {
            co_await next();
            co_await next();
        });
        h.plain("edit", [&h, state](weir::Exchange& exchange) {
            h.trace.push_back("had '" + std::string(h.exchange->bufferedBody) + "'" +
                              (h.exchange->bodyState == state ? "" : " in another state"));
            exchange.request().setBody("other");
            return Answer::Next;
        });
        h.coroutine("call", calling());
        h.start(state);
        h.exchange->complete(h.call, WEIR_CALL_REFUSED);
        h.exchange->complete(h.call, WEIR_CALL_REFUSED);
        CHECK(h.trace == Trace{"had ''", "call", "had ''", "call", "commit 0"});
        h.finish();
    }
}
