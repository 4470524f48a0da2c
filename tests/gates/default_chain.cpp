#include "gates/default_chain.hpp"

#include <stdexcept>

namespace weir::gates {

namespace {

// A plugin with one selector and one rule for /http/**.
std::string plugin(const std::string& name, const std::string& ruleHandle, const std::string& selectorHandle = "{}") {
    const std::string all = "conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]";
    return "  - name: " + name + "\n    selectors:\n      - name: all\n        " + all +
           "\n        handle: " + selectorHandle + "\n        rules:\n          - name: all\n            " + all +
           "\n            handle: " + ruleHandle + "\n";
}

}  // namespace

std::string defaultChain(const std::string& upstream) {
    return "weir:\n  extPlugin: {enabled: false}\nplugins:\n" + plugin("contextPath", "{contextPath: /http}") +
           plugin("rewrite", "{regex: '/order/(.*)', replace: '/orders/$1'}") +
           plugin("divide", "{loadBalance: roundRobin, retry: 3, timeout: 3000}",
                  "[{upstreamUrl: '" + upstream + "', weight: 50}]") +
           plugin("modifyResponse", "{setHeaders: {x-gateway: weir}}");
}

support::RecordingUpstream::Serve answersOf(std::size_t bytes) {
    const std::string fields =
        "Server: nginx/1.22.1\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n"
        "Content-Type: text/plain\r\nConnection: keep-alive\r\n";
    return [answer = support::RecordingUpstream::ok(std::string(bytes, 'x'), fields)](auto& connection) {
        while (connection.message()) connection.send(answer);
    };
}

std::string requestOf(std::size_t bytes) {
    const std::string target = "/http/order/findById?id=1 HTTP/1.1\r\nHost: weir.test\r\nUser-Agent: gates\r\n";
    if (bytes == 0) return "GET " + target + "\r\n";
    return "POST " + target + "Content-Length: " + std::to_string(bytes) + "\r\n\r\n" + std::string(bytes, 'x');
}

void repeat(support::RawClient& client, const std::string& request, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
        const support::HttpMessage answer = client.exchange(request);
        if (answer.status() != 200) throw std::runtime_error("not the answer that was to come:\n" + answer.raw);
    }
}

}  // namespace weir::gates
