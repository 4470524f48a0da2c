#include "manage/page.hpp"

#include "base/value.hpp"

namespace weir::manage {

namespace {
constexpr std::streamsize kIgnoredTail = 64 * 1024 * 1024;
}  // namespace

std::optional<std::string> readBody(std::istream* body, std::size_t limit) {
    std::string bytes;
    if (!body) return bytes;
    char part[65536];
    while (body->read(part, sizeof part), body->gcount() > 0) {
        bytes.append(part, static_cast<std::size_t>(body->gcount()));
        if (bytes.size() <= limit) continue;
        // A client that is still sending when the connection closes never gets to read the answer.
        body->ignore(kIgnoredTail);
        return std::nullopt;
    }
    return bytes;
}

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
