#include "manage/upstream_page.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/scalars.hpp"
#include "base/steady_clock.hpp"

namespace weir::manage {

namespace {

using base::Value;
using base::scalars::flag;
using base::scalars::number;
using base::scalars::text;

constexpr double kNsPerMs = 1e6;

std::string_view healthOf(const upstream::Server& server) {
    if (!server.checked) return "unchecked";
    return server.state.unhealthy.load(std::memory_order_relaxed) ? "unhealthy" : "healthy";
}

// With a thousandth of a millisecond: close upstreams answer in less than one.
Value milliseconds(std::uint64_t ns) {
    char digits[32];
    const int size = std::snprintf(digits, sizeof digits, "%.3f", static_cast<double>(ns) / kNsPerMs);
    return Value::scalar(std::string(digits, static_cast<std::size_t>(size)), false);
}

Value row(const upstream::SetCatalog::Listed& listed, const UpstreamSource& source) {
    const upstream::Server& server = *listed.server;
    const upstream::ServerState& state = server.state;
    constexpr auto relaxed = std::memory_order_relaxed;
    Value addresses = Value::array();
    if (const auto list = source.addressesOf(server)) {
        for (const net::Endpoint& each : list->all()) addresses.append(text(each.addressText()));
    }
    Value value = Value::object();
    value.set("url", text(server.url));
    value.set("protocol", text(listed.protocol));
    value.set("weight", number(listed.weight));
    value.set("status", flag(listed.status));
    value.set("gray", flag(listed.gray));
    value.set("health", text(healthOf(server)));
    value.set("ejected", flag(state.resting(base::steadyNs())));
    value.set("addresses", std::move(addresses));
    value.set("inFlight", number(state.inFlight.load(relaxed)));
    value.set("calls", number(state.calls.load(relaxed)));
    value.set("failures", number(state.failures.load(relaxed)));
    value.set("latencyMs", milliseconds(state.latencyNs.load(relaxed)));
    return value;
}

}  // namespace

Value upstreamRows(const UpstreamSource& source, const data::DataSet& data) {
    using Key = std::pair<std::string_view, std::string_view>;
    std::map<Key, std::string_view> names;
    for (const data::SelectorData& selector : data.selectors)
        names.emplace(Key(selector.pluginName, selector.id), selector.name);
    Value list = Value::array();
    for (const auto& set : source.upstreamSets()) {
        const auto name = names.find({set->owner.plugin, set->owner.selector});
        if (name == names.end()) continue;  // requests that run still hold it, or it is a rule's own
        Value upstreams = Value::array();
        for (const upstream::SetCatalog::Listed& listed : set->upstreams) upstreams.append(row(listed, source));
        Value value = Value::object();
        value.set("plugin", text(set->owner.plugin));
        value.set("selector", text(set->owner.selector));
        value.set("name", text(name->second));
        value.set("upstreams", std::move(upstreams));
        list.append(std::move(value));
    }
    return list;
}

}  // namespace weir::manage
