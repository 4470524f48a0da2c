#pragma once

#include <string>
#include <vector>

namespace weir::functional {

struct Upstream {
    std::string address;
    int weight = 50;
};

// The configuration of the quickstart with other upstreams: /http/** goes to them without the /http.
struct ProxyConfig {
    std::vector<Upstream> upstreams;
    std::string loadBalance = "roundRobin";
    int retry = 3;
    std::string retryStrategy = "current";
    int timeoutMs = 5000;
    std::string rulePath = "/http/**";  // of divide's only rule

    std::string yaml() const;
};

// One upstream, everything else as above.
std::string proxyTo(const std::string& address);

// The same, and another plugin with one rule for all of /http/**.
std::string proxyWithRule(const std::string& address, const std::string& plugin, const std::string& handle);

}  // namespace weir::functional
