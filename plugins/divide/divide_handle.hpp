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
    std::string upstreamUrl;  // spaces around it are dropped
    std::uint32_t weight = 50;
    bool status = true;
    std::int64_t timestamp = 0;
    std::int64_t warmup = 0;
    bool gray = false;
    bool healthCheckEnabled = true;
    std::string upstreamHost;
    std::string namespaceId;

    bool usable() const { return weight > 0 && (status || !healthCheckEnabled); }
    static constexpr auto fields = weir::fields(
        weir::field("protocol", &UpstreamHandle::protocol).about("only http:// so far"),
        weir::field("upstreamUrl", &UpstreamHandle::upstreamUrl).required()
            .about("host:port; an IPv6 address in brackets; a name is followed as it changes"),
        weir::field("weight", &UpstreamHandle::weight).range(0, 2147483647)
            .about("its share, for balancers that look at it; 0 takes it out"),
        weir::field("status", &UpstreamHandle::status).about("false takes it out; checks go on"),
        weir::field("timestamp", &UpstreamHandle::timestamp).about("ms since 1970: when it started; 0: no warm-up"),
        weir::field("warmup", &UpstreamHandle::warmup).about("ms from then in which its weight grows to the full one"),
        weir::field("gray", &UpstreamHandle::gray).about("while a gray upstream can be used, only gray ones are"),
        weir::field("upstreamHost", &UpstreamHandle::upstreamHost).about("ShenYu's own; nothing here depends on it"),
        weir::field("healthCheckEnabled", &UpstreamHandle::healthCheckEnabled)
            .about("false: used whatever a check would find, and whatever status says"),
        weir::field("namespaceId", &UpstreamHandle::namespaceId).about("ShenYu's own; nothing here depends on it"));
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
    std::chrono::milliseconds timeout{3000};
    std::uint64_t headerMaxSize = 0;
    std::uint64_t requestMaxSize = 0;
    static constexpr auto fields = weir::fields(
        weir::field("loadBalance", &DivideRule::loadBalance)
            .about("a balancer that a module provides; /spi lists them"),
        weir::field("retryStrategy", &DivideRule::retryStrategy).oneOf("current", "failover")
            .about("current: the same upstream again; failover: another one"),
        weir::field("retry", &DivideRule::retry).range(0, 100)
            .about("repeats after the first attempt, of what is safe to repeat"),
        weir::field("timeout", &DivideRule::timeout).range(1, 2147483647)
            .about("of one attempt: last request byte to response head"),
        weir::field("headerMaxSize", &DivideRule::headerMaxSize).about("bytes of all field values together; 0: any"),
        weir::field("requestMaxSize", &DivideRule::requestMaxSize).about("bytes, by Content-Length; 0: any"));

    // Made when the handle is prepared.
    std::uint32_t balancer = 0;  // id of `loadBalance`
    weir_retry strategy = WEIR_RETRY_CURRENT;
};

}  // namespace weir::divide
