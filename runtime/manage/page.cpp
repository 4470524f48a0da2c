#include "manage/page.hpp"

#include "base/value.hpp"

namespace weir::manage {

PageReply errorPage(int status, std::string_view message) {
    base::Value body = base::Value::object();
    body.set("code", base::Value::scalar(std::to_string(status), false));
    body.set("message", base::Value::scalar(std::string(message), true));
    return {status, base::toJson(body), {}, {}, {}};
}

PageReply wrongMethod(std::string_view allowed, std::string_view message) {
    PageReply reply = errorPage(405, message);
    reply.allow = allowed;
    return reply;
}

}  // namespace weir::manage
