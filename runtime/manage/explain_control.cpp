#include "manage/explain_control.hpp"

#include "config/messages.hpp"

namespace weir::manage {

namespace {

using base::Value;

constexpr const char* kSource = "request body";
constexpr std::int64_t kMaxLimit = 10000;

base::Error wrong(const Value& at, const std::string& name, const std::string& expected) {
    return config::invalid(kSource, at.mark(), name + ": expected " + expected + ", " + config::got(at));
}

bool isText(const Value& value) { return value.isScalar() && !value.isNull(); }

base::Result<void> readHeaders(const Value& tree, ExplainRequest& request) {
    if (!tree.isObject()) return wrong(tree, "headers", "a map");
    for (const Value::Member& member : tree.members()) {
        std::vector<const Value*> values;
        if (member.value.isArray()) {
            for (const Value& value : member.value.items()) values.push_back(&value);
        } else {
            values.push_back(&member.value);
        }
        for (const Value* value : values) {
            if (!isText(*value)) return wrong(*value, "headers." + member.key, "a text or a list of them");
            request.headers.emplace_back(member.key, value->text());
        }
    }
    return {};
}

}  // namespace

base::Result<ExplainRequest> explainRequestFrom(const Value& tree) {
    if (!tree.isObject()) return wrong(tree, "the body", "a map with request, headers, client, body and limit");
    ExplainRequest request;
    for (const Value::Member& member : tree.members()) {
        const Value& value = member.value;
        if (member.key == "headers") {
            if (auto done = readHeaders(value, request); !done.ok()) return std::move(done).error();
        } else if (member.key == "limit") {
            const auto limit = value.toInt();
            if (!limit || *limit < 0 || *limit > kMaxLimit)
                return wrong(value, "limit", "a whole number from 0 to " + std::to_string(kMaxLimit));
            request.limit = static_cast<std::size_t>(*limit);
        } else if (std::string* text = member.key == "request"  ? &request.request
                                       : member.key == "client" ? &request.client
                                       : member.key == "body"   ? &request.body
                                                                : nullptr) {
            if (!isText(value)) return wrong(value, member.key, "a text");
            *text = value.text();
        } else {
            return config::invalid(kSource, member.keyMark,
                                   config::unknownKey(member.key, {"request", "headers", "client", "body", "limit"}));
        }
    }
    if (request.request.empty()) return wrong(tree, "request", "a text such as \"GET /path?query\"");
    return request;
}

Value toValue(const ExplainRequest& request) {
    const auto text = [](const std::string& of) { return Value::scalar(of, true); };
    Value tree = Value::object();
    tree.set("request", text(request.request));
    Value headers = Value::object();
    for (const auto& [name, value] : request.headers) {
        if (headers.find(name)) continue;
        Value values = Value::array();
        for (const auto& [other, each] : request.headers)
            if (other == name) values.append(text(each));
        headers.set(name, std::move(values));
    }
    tree.set("headers", std::move(headers));
    tree.set("client", text(request.client));
    tree.set("body", text(request.body));
    tree.set("limit", Value::scalar(std::to_string(request.limit), false));
    return tree;
}

}  // namespace weir::manage
