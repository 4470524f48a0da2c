#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "divide_handle.hpp"
#include "upstream_url.hpp"
#include "weir/module.hpp"

namespace {

using weir::divide::DivideRule;
using weir::divide::DivideSelector;
using weir::divide::UpstreamHandle;

void trim(std::string& text) {
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
}

bool prepareUpstream(UpstreamHandle& upstream, const std::string& path, weir_error* error) {
    trim(upstream.upstreamUrl);
    trim(upstream.protocol);
    if (upstream.protocol.empty()) upstream.protocol = "http://";
    if (upstream.protocol != "http://") {
        return weir::refuse(error, path + ".protocol",
                            "only http:// is supported so far, found '" + upstream.protocol + "'");
    }
    if (upstream.upstreamUrl.find('@') != upstream.upstreamUrl.npos)
        return weir::refuse(error, path + ".upstreamUrl", "expected host:port without a user and password");
    const std::string_view fault = weir::divide::upstreamUrlFault(upstream.upstreamUrl);
    if (fault.empty()) return true;
    return weir::refuse(error, path + ".upstreamUrl",
                        "expected host:port, but '" + upstream.upstreamUrl + "' " + std::string(fault));
}

std::uint64_t headerValueBytes(const weir::Request& request) {
    std::uint64_t bytes = 0;
    request.forEachHeader([&bytes](std::string_view, std::string_view value) { bytes += value.size(); });
    return bytes;
}

// 0 when the length is not told beforehand: such a body passes, as in ShenYu.
std::uint64_t contentLength(const weir::Request& request) {
    const std::string_view text = request.header("Content-Length").value_or("");
    std::uint64_t length = 0;
    std::from_chars(text.data(), text.data() + text.size(), length);
    return length;
}

struct Choice {
    weir_upstream_set* set = nullptr;
    int index = -1;
};

// The upstream that the client names, if it is one of the list that can be used: the pick is left nothing else, so that
// health and ejection count as always. (ShenYu since 2.7.1; before, any address was called.)
Choice specified(weir::Exchange& exchange, const DivideRule& rule, const DivideSelector& selector,
                 std::string_view url) {
    const auto found = std::find(selector.usable.begin(), selector.usable.end(), url);
    if (found == selector.usable.end()) return {};
    const auto index = static_cast<std::size_t>(found - selector.usable.begin());
    std::vector<std::uint64_t> others(selector.usable.size() / 64 + 1, ~std::uint64_t{0});
    others[index / 64] &= ~(std::uint64_t{1} << index % 64);
    return {selector.set.raw(), exchange.pickUpstream(selector.set.raw(), rule.balancer, others.data())};
}

Choice choose(weir::Exchange& exchange, const DivideRule& rule, const DivideSelector& selector) {
    if (const auto url = exchange.request().header("specify-domain"); url && !url->empty()) {
        if (const Choice choice = specified(exchange, rule, selector, *url); choice.index >= 0) return choice;
    }
    if (selector.gray.raw()) {
        const Choice choice{selector.gray.raw(), exchange.pickUpstream(selector.gray.raw(), rule.balancer)};
        if (choice.index >= 0) return choice;  // else none of them is healthy
    }
    return {selector.set.raw(), exchange.pickUpstream(selector.set.raw(), rule.balancer)};
}

class Divide final : public weir::RulePlugin<DivideRule, DivideSelector> {
public:
    bool prepareSelector(DivideSelector& selector, weir_error* error) override {
        std::vector<weir::Upstream> list, gray;
        for (UpstreamHandle& one : selector.upstreams) {
            if (!prepareUpstream(one, "[" + std::to_string(list.size()) + "]", error)) return false;
            list.push_back({one.protocol, one.upstreamUrl, one.weight, one.status, one.gray, one.timestamp,
                            one.warmup, one.healthCheckEnabled});
            if (!one.usable()) continue;
            selector.usable.push_back(one.upstreamUrl);
            if (one.gray) gray.push_back(list.back());
        }
        const bool some = !gray.empty() && gray.size() < selector.usable.size();
        if (some && !selector.gray.assign(gray, error)) return false;
        return selector.set.assign(list, error);  // the last one made is the one that the gateway shows
    }

    bool prepareRule(DivideRule& rule, weir_error* error) override {
        rule.strategy = rule.retryStrategy == "failover" ? WEIR_RETRY_FAILOVER : WEIR_RETRY_CURRENT;
        return host().findBalancer(rule.loadBalance, rule.balancer, error);
    }

    weir::Answer onRequest(weir::Exchange& exchange, const DivideRule& rule, const DivideSelector& selector) override {
        const weir::Request request = exchange.request();
        if (rule.headerMaxSize > 0 && headerValueBytes(request) > rule.headerMaxSize)
            return exchange.replyError(431, 431, "Request Header Fields Too Large");
        if (rule.requestMaxSize > 0 && contentLength(request) > rule.requestMaxSize)
            return exchange.replyError(413, 413, "Request Entity Too Large");

        const Choice choice = choose(exchange, rule, selector);
        if (choice.index < 0) {
            return exchange.replyError(503, -119,
                                       "Can not find healthy upstream url, please check your configuration!");
        }
        weir_route route{};
        route.size = sizeof route;
        route.index = choice.index;
        route.set = choice.set;
        route.balancer = rule.balancer;
        route.timeout_ms = static_cast<std::uint32_t>(rule.timeout.count());
        route.retry = rule.retry;
        route.retry_strategy = rule.strategy;
        exchange.setRoute(route);
        return weir::Answer::Next;
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Divide>("divide", {.order = 200, .rpcTypes = {"http"}, .unmatched = weir::Unmatched::Error}))
