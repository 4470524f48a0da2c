#include "call.hpp"

namespace order_service {

namespace {

Poco::JSON::Object order(const std::string& id, const std::string& name) {
    Poco::JSON::Object object(Poco::JSON_PRESERVE_KEY_ORDER);
    object.set("id", id);
    object.set("name", name);
    return object;
}

void findById(Call& call) { call.reply(order(call.query("id"), "hello world findById")); }

void save(Call& call) { call.reply(order(call.json()->optValue<std::string>("id", ""), "hello world save order")); }

void pathInline(Call& call) { call.reply(order(call.variable(0), "hello world restful inline " + call.variable(0))); }

void path(Call& call) { call.reply(order(call.variable(0), "hello world restful: " + call.variable(1))); }

void oauth2(Call& call) {
    auto token = call.header("Authorization");
    Poco::JSON::Object object;
    object.set("token", token.empty() ? "no authorization" : token);
    call.reply(object);
}

void blankInPath(Call& call) { call.reply(order("", "hello world blank: " + call.variable(0))); }

void requestHeader(Call& call) { call.replyText("response success: " + call.header("header_key1")); }
void requestParameter(Call& call) { call.replyText("response success: " + call.query("parameter_key1")); }
void requestCookie(Call& call) { call.replyText("response success: " + call.cookie("userId")); }

void hello(Call& call) { call.replyText("hello! I'm order-service"); }
void hi(Call& call) { call.replyText("hi! " + call.query("name") + "! I'm order-service"); }
void postHi(Call& call) { call.replyText("[post method result]:hi! " + call.query("name") + "! I'm order-service"); }

void greet(Call& call) { call.replyText("greet from " + call.path()); }
void authorize(Call& call) { call.replyText("authorized"); }
void uploaded(Call& call) { call.replyText("ok, " + std::to_string(call.body().size()) + " bytes"); }

}  // namespace

std::vector<Route> orderRoutes() {
    return {
        {"GET", "/order/findById", findById},
        {"POST", "/order/save", save},
        {"GET", "/order/path/{}/name", pathInline},
        {"GET", "/order/path/{}/{}", path},
        {"GET", "/order/oauth2/test", oauth2},
        {"GET", "/order/{}/uri/test", blankInPath},
        {"GET", "/request/header", requestHeader},
        {"POST", "/request/parameter", requestParameter},
        {"GET", "/request/cookie", requestCookie},
        {"*", "/hello", hello},
        {"*", "/hi", hi},
        {"POST", "/post/hi", postHi},
        {"*", "/shenyu/client/hello", hello},
        {"*", "/shenyu/client/hi", hi},
        {"POST", "/shenyu/client/post/hi", postHi},
        {"*", "/multipath/v1/greet", greet},
        {"*", "/multipath/v2/greet", greet},
        {"GET", "/oauth/authorize", authorize},
        {"POST", "/upload/webFluxSingle", uploaded},
        {"POST", "/upload/webFluxFiles", uploaded},
    };
}

}  // namespace order_service
