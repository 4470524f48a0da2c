#include "probe/probe_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/value.hpp"
#include "chain/host_json.hpp"
#include "chain/host_patterns.hpp"
#include "module/abi_text.hpp"
#include "module/host_values.hpp"
#include "upstream/control_error.hpp"

namespace weir::probe {

using module::HostValues;
using module::view;

namespace {

// Functions here are noexcept: without memory the trial ends.

// One write, so that lines of several threads do not mix.
void log(weir_log_level, weir_str text) noexcept {
    const std::string line = std::string(view(text)) + "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

void errorSet(weir_error* error, weir_str path, weir_str text) noexcept {
    error->path = view(path);
    error->text = view(text);
}
void unknownKey(weir_error* error, weir_str path) noexcept { error->unknownKeys.emplace_back(view(path)); }

std::uint32_t attributeId(const weir_host* host, weir_str name) noexcept {
    // The table is the probe's own object; only modules see it as const.
    auto& ids = const_cast<ProbeHost*>(static_cast<const ProbeHost*>(host))->attributeIds;
    return ids.emplace(view(name), static_cast<std::uint32_t>(ids.size())).first->second;
}

weir_status balancerFind(const weir_host* host, weir_str name, std::uint32_t* id, weir_error* error) noexcept {
    const auto& balancers = static_cast<const ProbeHost*>(host)->balancers;
    const auto found = std::ranges::find(balancers, view(name));
    if (found == balancers.end()) {
        error->text = "no module provides the load balancer '" + std::string(view(name)) + "'";
        return WEIR_NOT_FOUND;
    }
    *id = static_cast<std::uint32_t>(found - balancers.begin());
    return WEIR_OK;
}

bool isHostAndPort(std::string_view url) {
    const std::size_t colon = url.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    unsigned port = 0;
    const char* end = url.data() + url.size();
    return std::from_chars(url.data() + colon + 1, end, port) == std::from_chars_result{end, std::errc()} &&
           port > 0 && port < 65536;
}

// The set itself is a block that shows a leak checker whether it was released.
weir_status upstreamSetCreate(const weir_host*, const weir_upstream* upstreams, std::size_t count,
                              weir_upstream_set** out, weir_error* error) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view protocol = view(upstreams[i].protocol);
        const std::string_view url = view(upstreams[i].url);
        if (!protocol.empty() && protocol != "http://") {
            error->text = "protocol '" + std::string(protocol) + "' is not supported, only http:// is";
            return WEIR_INVALID;
        }
        if (!isHostAndPort(url)) {
            error->text = "expected host:port, found '" + std::string(url) + "'";
            return WEIR_INVALID;
        }
    }
    *out = reinterpret_cast<weir_upstream_set*>(new std::size_t(count));
    return WEIR_OK;
}
void upstreamSetRelease(weir_upstream_set* set) noexcept { delete reinterpret_cast<std::size_t*>(set); }
std::uint32_t upstreamCount(const weir_upstream_set* set) noexcept {
    return set ? static_cast<std::uint32_t>(*reinterpret_cast<const std::size_t*>(set)) : 0;
}

weir_status patternCompile(const weir_host* host, weir_str expression, weir_pattern** out,
                           weir_error* error) noexcept {
    return chain::HostPatterns::compile(host, expression, out, error);
}
std::int32_t patternFind(const weir_pattern* pattern, weir_str text, std::size_t from, std::int32_t whole,
                         weir_str* groups, std::uint32_t count) noexcept {
    return chain::HostPatterns::find(pattern, text, from, whole, groups, count);
}

weir_status jsonEditsCompile(const weir_host* host, const weir_json_edit* edits, std::size_t count,
                             weir_json_edits** out, weir_error* error) noexcept {
    return chain::HostJson::compile(host, edits, count, out, error);
}
weir_status jsonEditsApply(const weir_json_edits*, weir_exchange*, weir_str, weir_str*) noexcept {
    return WEIR_INVALID;
}

// A loop's functions: there is no exchange.
template <class... In>
weir_str noText(weir_exchange*, In...) { return {nullptr, 0}; }
template <class Out, class... In>
Out nothing(weir_exchange*, In...) { return Out{}; }
template <class... In>
void ignore(weir_exchange*, In...) {}
template <class... In>
weir_status refused(weir_exchange*, In...) { return WEIR_INVALID; }
template <class... In>
std::int32_t none(weir_exchange*, In...) { return -1; }

void setLoopFunctions(weir_host& host) {
    host.arena_more = &nothing<void*, std::size_t>;
    host.arena_large = &nothing<void*, std::size_t>;
    host.arena_large_free = &ignore<void*, std::size_t>;
    host.part = &noText<weir_part>;
    host.slot_get = &noText<weir_slot>;
    host.slot_set = &ignore<weir_slot, weir_str>;
    host.attribute_get = &noText<std::uint32_t>;
    host.attribute_set = &ignore<std::uint32_t, weir_str>;
    host.header_get = &noText<weir_side, weir_str>;
    host.header_count = &nothing<std::size_t, weir_side>;
    host.header_at = &nothing<std::int32_t, weir_side, std::size_t, weir_str*, weir_str*>;
    host.header_set = &refused<weir_side, weir_str, weir_str>;
    host.header_add = &refused<weir_side, weir_str, weir_str>;
    host.header_remove = &ignore<weir_side, weir_str>;
    host.status_get = &nothing<std::int32_t>;
    host.status_set = &refused<std::int32_t>;
    host.reply = &refused<std::int32_t, weir_str, weir_str>;
    host.reply_error = &refused<std::int32_t, std::int32_t, weir_str>;
    host.replied = &nothing<std::int32_t>;
    host.fail = &ignore<std::int32_t, std::int32_t, weir_str>;
    host.route_set = &ignore<const weir_route*>;
    host.route_get = &nothing<std::int32_t, weir_route*>;
    host.upstream_pick = &none<weir_upstream_set*, std::uint32_t, const std::uint64_t*>;
    host.call_result = &none<>;
    host.upstream_call = &nothing<weir_operation>;
    host.request_body = &nothing<weir_operation, std::size_t>;
    host.sleep = &nothing<weir_operation, std::uint64_t>;
    host.offload = &nothing<weir_operation, void (*)(void*), void*>;
    host.option_set = &refused<weir_option, std::int32_t>;
    host.metadata_find = &nothing<std::int32_t, weir_str>;
    host.metadata_get = &nothing<std::int32_t, weir_metadata*>;
    host.query_set = &refused<weir_str>;
    host.response_body = &nothing<weir_operation, std::size_t>;
    host.request_body_set = &refused<weir_str>;
    host.response_body_set = &refused<weir_str>;
    host.content_decode = &refused<weir_str, weir_str, std::size_t, weir_str*>;
    host.json_edits_apply = &jsonEditsApply;
    host.upstream_repeat = &nothing<std::int32_t, std::int32_t>;
    host.redispatch = &refused<weir_str>;
}

}  // namespace

ProbeHost::ProbeHost(std::vector<std::string> loadBalancers) : weir_host{}, balancers(std::move(loadBalancers)) {
    size = sizeof(weir_host);
    abi = WEIR_ABI_VERSION;
    probing = 1;
    allocate = &HostValues::allocate;
    release = &HostValues::release;
    now_ns = &HostValues::nowNs;
    value_kind = &HostValues::kind;
    value_size = &HostValues::size;
    value_at = &HostValues::at;
    value_key_at = &HostValues::keyAt;
    value_get = &HostValues::get;
    value_text = &HostValues::text;
    value_bool = &HostValues::toBool;
    value_int = &HostValues::toInt;
    value_double = &HostValues::toDouble;
    log = &probe::log;
    error_set = &errorSet;
    unknown_key = &unknownKey;
    attribute_id = &attributeId;
    balancer_find = &balancerFind;
    upstream_set_create = &upstreamSetCreate;
    upstream_set_release = &upstreamSetRelease;
    pattern_compile = &patternCompile;
    pattern_release = &chain::HostPatterns::release;
    pattern_groups = &chain::HostPatterns::groups;
    pattern_find = &patternFind;
    json_edits_compile = &jsonEditsCompile;
    json_edits_release = &chain::HostJson::release;
    upstream_count = &upstreamCount;
    setLoopFunctions(*this);
}

}  // namespace weir::probe
