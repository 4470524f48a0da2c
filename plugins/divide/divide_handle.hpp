#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "weir/fields.hpp"
#include "weir/host.hpp"

namespace weir::divide {

// One entry of the selector handle, with ShenYu's keys.
struct UpstreamHandle {
    std::string protocol = "http://";
    std::string upstreamUrl;  // host:port, spaces around it are dropped
    std::uint32_t weight = 50;
    bool status = true;
    std::int64_t timestamp = 0;  // ms
    std::int64_t warmup = 0;     // ms
    bool gray = false;
    bool healthCheckEnabled = true;  // false: used whatever a check would find and `status` says
    // ShenYu's own bookkeeping; nothing here depends on them.
    std::string upstreamHost;
    std::string namespaceId;

    bool usable() const { return weight > 0 && (status || !healthCheckEnabled); }
    static constexpr auto fields = weir::fields(
        weir::field("protocol", &UpstreamHandle::protocol),
        weir::field("upstreamUrl", &UpstreamHandle::upstreamUrl).required(),
        weir::field("weight", &UpstreamHandle::weight).range(0, 2147483647),
        weir::field("status", &UpstreamHandle::status),
        weir::field("timestamp", &UpstreamHandle::timestamp),
        weir::field("warmup", &UpstreamHandle::warmup),
        weir::field("gray", &UpstreamHandle::gray),
        weir::field("upstreamHost", &UpstreamHandle::upstreamHost),
        weir::field("healthCheckEnabled", &UpstreamHandle::healthCheckEnabled),
        weir::field("namespaceId", &UpstreamHandle::namespaceId));
};

struct DivideSelector {
    std::vector<UpstreamHandle> upstreams;
    static constexpr auto items = &DivideSelector::upstreams;

    // Made when the handle is prepared.
    UpstreamSet gray;                 // of the gray ones alone; null: none is gray, or all are
    UpstreamSet set;                  // of all
    std::vector<std::string> usable;  // urls, by index in `set`
};

struct DivideRule {
    std::string loadBalance = "random";
    std::string retryStrategy = "current";
    std::uint32_t retry = 3;
    std::chrono::milliseconds timeout{3000};  // of one attempt
    std::uint64_t headerMaxSize = 0;          // bytes of all field values together; 0: no limit
    std::uint64_t requestMaxSize = 0;         // bytes, by Content-Length; 0: no limit
    static constexpr auto fields = weir::fields(
        weir::field("loadBalance", &DivideRule::loadBalance),
        weir::field("retryStrategy", &DivideRule::retryStrategy).oneOf("current", "failover"),
        weir::field("retry", &DivideRule::retry).range(0, 100),
        weir::field("timeout", &DivideRule::timeout).range(1, 2147483647),
        weir::field("headerMaxSize", &DivideRule::headerMaxSize),
        weir::field("requestMaxSize", &DivideRule::requestMaxSize));

    std::uint32_t balancer = 0;  // id of `loadBalance`, found when the handle is prepared
};

}  // namespace weir::divide
