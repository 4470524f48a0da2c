#include "functional/module_caller.hpp"

#include "support/eventually.hpp"

using namespace weir::support;

namespace weir::functional {

namespace {

// SHA-512 of kUploadKey.
constexpr const char* kKeyHash =
    "ba3253876aed6bc22d4a6ff53d8406c6ad864195ed144ab5c87621b6c233b548"
    "baeae6956df346ec8c17f5ea10f35ee3cbc514797ed7ddd3145464e2a0bab413";

}  // namespace

std::vector<std::string> callArguments(const ExtFolder& folder, const std::vector<std::string>& more) {
    std::vector<std::string> all = folder.arguments();
    all.insert(all.end(), {"--extPlugin.settleMs=5", "--management.token=opener",
                           std::string("--local.sha512Key=") + kKeyHash});
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

HttpMessage call(const GatewayProcess& gateway, const std::string& path, const std::string& body,
                 const std::string& fields) {
    return RawClient(gateway.managementPort())
        .exchange("POST " + path + " HTTP/1.1\r\nHost: a\r\n" + fields +
                  "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

HttpMessage upload(const GatewayProcess& gateway, const std::string& jar, const std::string& more) {
    const std::string plugin = "{\"name\":\"hello\",\"pluginJar\":\"" + jar + "\"" + more + "}";
    return call(gateway, "/shenyu/plugin/saveOrUpdate", plugin, std::string("localKey: ") + kUploadKey + "\r\n");
}

std::string base64(const std::string& bytes) {
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned value = 0;
        for (std::size_t j = 0; j < 3; ++j)
            value = value << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
        for (int j = 3; j >= 0; --j) out += kDigits[value >> (6 * j) & 63];
    }
    const std::size_t missing = (3 - bytes.size() % 3) % 3;
    out.replace(out.size() - missing, missing, std::string(missing, '='));
    return out;
}

std::string page(const GatewayProcess& gateway, const std::string& path) {
    return get(gateway.managementPort(), path).body;
}

bool shows(const GatewayProcess& gateway, const std::string& path, const std::string& text) {
    return eventually([&] { return page(gateway, path).find(text) != std::string::npos; });
}

std::string hello(const GatewayProcess& gateway) {
    return get(gateway.port(), "/http/a").field("X-Hello").value_or("none");
}

bool becomes(const GatewayProcess& gateway, const std::string& value) {
    return eventually([&] { return hello(gateway) == value; });
}

}  // namespace weir::functional
