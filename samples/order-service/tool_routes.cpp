#include "call.hpp"

#include <Poco/Thread.h>

#include <algorithm>
#include <ostream>

namespace order_service {

namespace {

constexpr long kLongestDelayMs = 60'000;
constexpr long kLargestAnswer = 1L << 40;

// With ?raw=true the body as it came, else what arrived as JSON.
void echo(Call& call) {
    if (call.query("raw") == "true") {
        call.reply(call.body(), call.request().getContentType());
        return;
    }
    Poco::JSON::Object headers(Poco::JSON_PRESERVE_KEY_ORDER);
    for (const auto& [name, value] : call.request()) {
        headers.set(name, headers.has(name) ? headers.getValue<std::string>(name) + ", " + value : value);
    }
    Poco::JSON::Object answer(Poco::JSON_PRESERVE_KEY_ORDER);
    answer.set("method", call.method());
    answer.set("target", call.target());
    answer.set("headers", headers);
    answer.set("body", call.body());
    call.reply(answer);
}

void slow(Call& call) {
    Poco::Thread::sleep(call.number("ms", 1000, kLongestDelayMs));
    call.replyText("slept");
}

void timeout(Call& call) {
    Poco::Thread::sleep(5000);  // longer than divide's default timeout of 3 s
    call.replyText("too late");
}

void fail(Call& call) {
    auto status = static_cast<int>(call.number("status", 500, 599));
    Poco::JSON::Object answer(Poco::JSON_PRESERVE_KEY_ORDER);
    answer.set("code", status);
    answer.set("message", "failing as asked");
    call.reply(answer, std::max(status, 200));  // a 1xx would not end the answer
}

void bytes(Call& call) {
    auto left = call.number("size", 1024, kLargestAnswer);
    call.response().setContentType("application/octet-stream");
    if (call.query("chunked") == "true") {
        call.response().setChunkedTransferEncoding(true);
    } else {
        call.response().setContentLength64(left);
    }
    auto& out = call.response().send();
    const std::string block(64 * 1024, 'x');
    while (left > 0 && out) {
        auto part = std::min<long>(left, static_cast<long>(block.size()));
        out.write(block.data(), part);
        left -= part;
    }
}

}  // namespace

std::vector<Route> toolRoutes() {
    return {
        {"*", "/echo", echo},
        {"*", "/multipath/v1/echo", echo},
        {"*", "/multipath/v2/echo", echo},
        {"*", "/slow", slow},
        {"*", "/test/timeout", timeout},
        {"*", "/shenyu/client/timeout", timeout},
        {"*", "/fail", fail},
        {"GET", "/bytes", bytes},
    };
}

}  // namespace order_service
