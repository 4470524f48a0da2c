#include "call.hpp"

#include <Poco/DateTime.h>
#include <Poco/DateTimeFormat.h>
#include <Poco/DateTimeFormatter.h>
#include <Poco/JSON/Array.h>

namespace order_service {

namespace {

Poco::JSON::Object object() { return Poco::JSON::Object(Poco::JSON_PRESERVE_KEY_ORDER); }

void replyUser(Call& call, const std::string& id, const std::string& name) {
    auto user = object();
    user.set("userId", id);
    user.set("userName", name);
    call.reply(user);
}

void payment(Call& call) {
    auto given = call.json();
    replyUser(call, given->optValue<std::string>("userId", ""), given->optValue<std::string>("userName", ""));
}

void findByUserId(Call& call) { replyUser(call, call.query("userId"), "hello world"); }
void findByUserIdName(Call& call) { replyUser(call, call.query("userId"), call.query("name")); }

void findByPage(Call& call) {
    replyUser(call, "", "hello world keyword is " + call.query("keyword") + " page is " + call.query("page") +
                            " pageSize is " + call.query("pageSize"));
}

void path(Call& call) { replyUser(call, call.variable(0), call.query("name")); }
void pathName(Call& call) { replyUser(call, call.variable(0), "hello world"); }

void replyResult(Call& call, int code, const std::string& message) {
    auto result = object();
    result.set("code", code);
    result.set("msg", message);
    call.reply(result);
}

void pass(Call& call) { replyResult(call, 200, "pass"); }
void deny(Call& call) { replyResult(call, 403, "deny"); }
void fallback(Call& call) { replyResult(call, 429, "fallback"); }

void replyPassWith(Call& call, const std::string& name, const std::string& value) {
    auto data = object();
    data.set(name, value);
    auto result = object();
    result.set("code", 200);
    result.set("msg", "pass");
    result.set("data", data);
    call.reply(result);
}

void passParameter(Call& call) { replyPassWith(call, "requestParameter", call.query("requestParameter")); }
void passHeader(Call& call) { replyPassWith(call, "requestHeader", call.header("requestHeader")); }
void passCookie(Call& call) { replyPassWith(call, "cookie", call.cookie("cookie")); }

void modifyResponse(Call& call) {
    for (auto name : {"useByModifyResponse", "setHeadersExist", "replaceHeaderKeys", "removeHeaderKeys"}) {
        call.response().set(name, name);
    }
    auto answer = object();
    answer.set("originReplaceBodyKeys", "originReplaceBodyKeys");
    answer.set("removeBodyKeys", "removeBodyKeys");
    call.reply(answer);
}

void modifyRequest(Call& call) {
    auto answer = object();
    answer.set("body", call.body());
    answer.set("cookie", call.cookie("cookie"));
    answer.set("header", call.header("requestHeader"));
    answer.set("parameter", call.query("requestParameter"));
    call.reply(answer);
}

void download(Call& call) { call.reply(call.query("body"), "application/octet-stream", 201); }
void ok(Call& call) { call.replyText("OK"); }
void badRequest(Call& call) { call.reply("", "text/plain", 400); }
void accepted(Call& call) { call.reply("", "text/plain", 202); }
void nothing(Call& call) { call.reply("", "application/json"); }
void today(Call& call) {
    call.replyText(Poco::DateTimeFormatter::format(Poco::DateTime(), Poco::DateTimeFormat::ISO8601_FORMAT));
}
void echoJson(Call& call) { call.reply(call.body(), "application/json"); }
void echoParameter(Call& call) { call.replyText(call.query("param")); }
void blankQuery(Call& call) { call.replyText("blank: " + call.variable(0)); }

void bigObject(Call& call) {
    Poco::JSON::Array numbers;
    for (int i = 0; i < 100'000; ++i) numbers.add(i);
    auto answer = object();
    answer.set("data", numbers);
    call.reply(answer);
}

}  // namespace

std::vector<Route> testRoutes() {
    return {
        {"POST", "/test/payment", payment},
        {"GET", "/test/findByUserId", findByUserId},
        {"GET", "/test/findByUserIdName", findByUserIdName},
        {"GET", "/test/findByPage", findByPage},
        {"GET", "/test/path/{}", path},
        {"GET", "/test/path/{}/name", pathName},
        {"PUT", "/test/putPathBody/{}", pathName},
        {"POST", "/test/waf/pass", pass},
        {"POST", "/test/waf/deny", deny},
        {"GET", "/test/request/parameter/pass", passParameter},
        {"GET", "/test/request/header/pass", passHeader},
        {"GET", "/test/request/cookie/pass", passCookie},
        {"POST", "/test/sentinel/pass", pass},
        {"GET", "/test/hystrix/pass", pass},
        {"GET", "/test/hystrix/fallback", fallback},
        {"GET", "/test/modifyResponse", modifyResponse},
        {"POST", "/test/modifyRequest", modifyRequest},
        {"GET", "/test/download", download},
        {"POST", "/test/upload", ok},
        {"GET", "/test/request/badrequest", badRequest},
        {"GET", "/test/request/accepted", accepted},
        {"POST", "/test/request/accepted", accepted},
        {"GET", "/test/success", ok},
        {"GET", "/test/cache", today},
        {"GET", "/test/nullResponse", nothing},
        {"POST", "/test/bigRequestBody", echoJson},
        {"POST", "/test/bigObject", bigObject},
        {"POST", "/test/query", echoParameter},
        {"POST", "/test/{}/query", blankQuery},
        {"POST", "/test/helloWorld2", ok},
        {"GET", "/test/rewrite", ok},
        {"GET", "/test/pdm", ok},
        {"GET", "/test/oms", ok},
    };
}

}  // namespace order_service
