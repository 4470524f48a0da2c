#include "functional/local_caller.hpp"

#include <openssl/evp.h>

#include <stdexcept>

using namespace weir::support;

namespace weir::functional {

namespace {

std::string sha512(const std::string& text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha512(), nullptr) != 1)
        throw std::runtime_error("no SHA-512");
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
        constexpr const char* kDigits = "0123456789abcdef";
        hex += kDigits[digest[i] >> 4];
        hex += kDigits[digest[i] & 15];
    }
    return hex;
}

void mustSucceed(const HttpMessage& answer, const std::string& what) {
    if (answer.status() != 200 || answer.body.rfind("Error", 0) == 0)
        throw std::runtime_error(what + "\n" + answer.raw);
}

}  // namespace

std::string withLocalKey(std::string yaml, const std::string& more) {
    const std::string root = "weir:\n";
    if (yaml.rfind(root, 0) != 0) throw std::runtime_error("the configuration does not begin with " + root);
    return yaml.insert(root.size(), "  local: {sha512Key: " + sha512(kLocalKey) + "}\n" + more);
}

std::string onlyDivide(const std::string& more) {
    return withLocalKey("weir:\n  server: {address: 127.0.0.1, port: 9195, threads: 2}\n  extPlugin: {enabled: false}\n"
                        "plugins:\n  - name: contextPath\n  - name: divide\n",
                        more);
}

HttpMessage LocalCaller::get(const std::string& path) const {
    return RawClient(port_).exchange("GET " + path + head() + "\r\n");
}

HttpMessage LocalCaller::post(const std::string& path, const std::string& json) const {
    return RawClient(port_).exchange("POST " + path + head() + "Content-Type: application/json\r\nContent-Length: " +
                                     std::to_string(json.size()) + "\r\n\r\n" + json);
}

void LocalCaller::selector(const std::string& json) const { mustSucceed(post(kSelectorCall, json), json); }

void LocalCaller::rule(const std::string& json) const { mustSucceed(post(kRuleCall, json), json); }

void LocalCaller::deleteSelector(const std::string& plugin, const std::string& id) const {
    const std::string path = "/shenyu/plugin/selector/delete?pluginName=" + plugin + "&id=" + id;
    mustSucceed(get(path), path);
}

std::string LocalCaller::head() const {
    return " HTTP/1.1\r\nHost: weir.test\r\n" + (key_.empty() ? "" : "localKey: " + key_ + "\r\n");
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

std::string errorCode(const HttpMessage& answer) {
    const auto at = answer.body.find("\"code\":");
    return at == std::string::npos ? "" : answer.body.substr(at + 7, answer.body.find_first_of(",}", at) - at - 7);
}

std::string upstreams(const std::string& address) { return R"([{"upstreamUrl":")" + address + R"(","weight":50}])"; }

RecordingUpstream::Serve named(const std::string& name) {
    return [name](RecordingUpstream::Connection& connection) {
        while (connection.message()) connection.send(RecordingUpstream::ok(name));
    };
}

Condition uri(const std::string& operatorName, const std::string& value) { return {"uri", operatorName, "/", value}; }

Condition method(const std::string& value) { return {"req_method", "=", "", value}; }

namespace {

std::string toJson(const std::vector<Condition>& conditions) {
    std::string list;
    for (const Condition& each : conditions) {
        if (!list.empty()) list += ",";
        list += R"({"paramType":)" + quoted(each.paramType) + R"(,"operator":)" + quoted(each.operatorName) +
                R"(,"paramName":)" + quoted(each.paramName) + R"(,"paramValue":)" + quoted(each.paramValue) + "}";
    }
    return "[" + list + "]";
}

// What both kinds have, without the brace that ends it.
std::string common(const Entry& entry) {
    return R"({"id":)" + quoted(entry.id) + R"(,"name":)" + quoted(entry.id + " name") + R"(,"pluginName":)" +
           quoted(entry.plugin) + R"(,"sort":)" + std::to_string(entry.sort) + R"(,"matchMode":)" + entry.matchMode +
           R"(,"enabled":)" + (entry.enabled ? "true" : "false") + R"(,"handle":)" + quoted(entry.handle) + entry.more;
}

}  // namespace

std::string Entry::selector() const {
    const std::string type = more.find("\"type\":") == std::string::npos ? R"(,"type":1)" : "";
    return common(*this) + type + R"(,"conditionList":)" + toJson(conditions) + "}";
}

std::string Entry::rule(const std::string& selectorId) const {
    return common(*this) + R"(,"selectorId":)" + quoted(selectorId) + R"(,"conditionDataList":)" + toJson(conditions) +
           "}";
}

}  // namespace weir::functional
