#include "functional/proxy_config.hpp"

namespace weir::functional {

std::string ProxyConfig::yaml() const {
    std::string list;
    for (const auto& upstream : upstreams) {
        if (!list.empty()) list += ", ";
        list += "{upstreamUrl: \"" + upstream.address + "\", weight: " + std::to_string(upstream.weight) + "}";
    }
    return R"(weir:
  server: {address: 127.0.0.1, port: 9195, threads: 1}
  extPlugin: {enabled: false}
plugins:
  - name: contextPath
    selectors:
      - name: orders
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules:
          - name: strip
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
            handle: {contextPath: /http}
  - name: divide
    selectors:
      - name: orders
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        handle: [)" + list + R"(]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: pathPattern, paramValue: )" + rulePath + R"(}]
            handle: {loadBalance: )" + loadBalance + ", retry: " + std::to_string(retry) +
           ", retryStrategy: " + retryStrategy +
           ", timeout: " + std::to_string(timeoutMs) + "}\n";
}

std::string proxyTo(const std::string& address) {
    ProxyConfig config;
    config.upstreams = {{address}};
    return config.yaml();
}

std::string proxyWithRule(const std::string& address, const std::string& plugin, const std::string& handle) {
    return proxyTo(address) + "  - name: " + plugin + R"(
    selectors:
      - name: all
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
            handle: )" + handle + "\n";
}

}  // namespace weir::functional
