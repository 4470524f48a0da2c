#include "chain/host_table.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <type_traits>

#include "base/log.hpp"
#include "base/value.hpp"
#include "chain/exchange.hpp"
#include "chain/host_json.hpp"
#include "chain/host_patterns.hpp"
#include "http/content_coding.hpp"
#include "module/abi_text.hpp"
#include "module/host_values.hpp"
#include "upstream/control_error.hpp"
#include "upstream/upstream_set.hpp"

namespace weir::chain {

using module::HostValues;
using module::str;
using module::view;

namespace {

Exchange& exchangeOf(weir_exchange* raw) { return *static_cast<Exchange*>(raw); }
ControlServices& servicesOf(const weir_host* host) { return static_cast<const HostTable*>(host)->control; }

// ---- any thread ----

void log(weir_log_level level, weir_str text) { base::log(level, view(text)); }

// ---- what prepare says of a value ----

void errorSet(weir_error* error, weir_str path, weir_str text) {
    error->path = view(path);
    error->text = view(text);
}
void unknownKey(weir_error* error, weir_str path) { error->unknownKeys.emplace_back(view(path)); }

// ---- interning and upstream sets ----

std::uint32_t attributeId(const weir_host* host, weir_str name) {
    auto& ids = servicesOf(host).attributeIds;
    return ids.emplace(view(name), static_cast<std::uint32_t>(ids.size())).first->second;
}

weir_status balancerFind(const weir_host* host, weir_str name, std::uint32_t* id, weir_error* error) {
    const upstream::BalancerRegistry& balancers = servicesOf(host).balancers;
    if (const auto found = balancers.find(view(name))) {
        *id = *found;
        return WEIR_OK;
    }
    std::vector<std::string_view> known;
    std::string list;
    for (const auto& balancer : balancers.all()) {
        known.push_back(balancer.key);
        list += (list.empty() ? "" : ", ") + balancer.key;
    }
    error->text = "no module provides the load balancer '" + std::string(view(name)) + "'";
    const std::string_view near = base::nearest(view(name), known);
    if (!near.empty()) error->text += "; did you mean '" + std::string(near) + "'?";
    else error->text += "; there is " + (list.empty() ? "none" : list);
    return WEIR_NOT_FOUND;
}

weir_status upstreamSetCreate(const weir_host* host, const weir_upstream* upstreams, std::size_t count,
                              weir_upstream_set** out, weir_error* error) {
    ControlServices& control = servicesOf(host);
    auto made = upstream::UpstreamSet::make({upstreams, count}, control.balancers, control.servers, control.sets);
    if (!made.ok()) {
        error->text = made.error().text();
        return WEIR_INVALID;
    }
    *out = reinterpret_cast<weir_upstream_set*>(std::move(made).value().release());
    return WEIR_OK;
}
void upstreamSetRelease(weir_upstream_set* set) { delete reinterpret_cast<upstream::UpstreamSet*>(set); }

// ---- the exchange ----

void* arenaMore(weir_exchange* raw, std::size_t size) { return exchangeOf(raw).more(size); }
void* arenaLarge(weir_exchange* raw, std::size_t size) { return exchangeOf(raw).large(size); }
void arenaLargeFree(weir_exchange* raw, void* block, std::size_t) { exchangeOf(raw).largeFree(block); }

weir_str part(weir_exchange* raw, weir_part which) {
    Exchange& exchange = exchangeOf(raw);
    switch (which) {
        case WEIR_PART_METHOD: return str(exchange.request.method);
        case WEIR_PART_TARGET: return str(exchange.request.target);
        case WEIR_PART_PATH: return str(exchange.request.path);
        case WEIR_PART_QUERY: return str(exchange.request.query);
        case WEIR_PART_CLIENT_ADDRESS: return str(exchange.clientAddress);
        case WEIR_PART_REQUEST_ID: return str(exchange.requestId);
    }
    return {nullptr, 0};
}

bool isSlot(weir_slot slot) { return slot >= 0 && slot < WEIR_SLOT_COUNT; }
weir_str slotGet(weir_exchange* raw, weir_slot slot) {
    return isSlot(slot) ? str(exchangeOf(raw).slot(slot)) : weir_str{nullptr, 0};
}
void slotSet(weir_exchange* raw, weir_slot slot, weir_str value) {
    if (isSlot(slot)) exchangeOf(raw).setSlot(slot, view(value));
}
weir_str attributeGet(weir_exchange* raw, std::uint32_t id) { return str(exchangeOf(raw).attribute(id)); }
void attributeSet(weir_exchange* raw, std::uint32_t id, weir_str value) {
    exchangeOf(raw).setAttribute(id, view(value));
}

http::FieldTable& fieldsOf(weir_exchange* raw, weir_side side) {
    Exchange& exchange = exchangeOf(raw);
    return side == WEIR_REQUEST ? exchange.request.fields : exchange.response.head.fields;
}

// Framing and the connection are the host's.
bool isFraming(std::string_view name) {
    constexpr http::FieldIds kFraming = http::bit(http::FieldId::Connection) | http::bit(http::FieldId::ContentLength) |
                                        http::bit(http::FieldId::TransferEncoding);
    return kFraming & http::bit(http::fieldId(name));
}

[[gnu::cold]] void logRefused(std::string_view name) {
    base::logWarning("a plugin's header was refused: " + base::jsonQuote(name) +
                     (isFraming(name) ? " is set by the gateway" : " or its value has bytes HTTP does not allow"));
}

// A bad byte would end up on the wire as another field.
bool editable(std::string_view name, std::string_view value) {
    if (!isFraming(name) && http::isFieldName(name) && http::isFieldValue(value)) [[likely]] return true;
    logRefused(name);
    return false;
}

weir_str headerGet(weir_exchange* raw, weir_side side, weir_str name) {
    return str(fieldsOf(raw, side).get(view(name)));
}
std::size_t headerCount(weir_exchange* raw, weir_side side) { return fieldsOf(raw, side).count(); }
std::int32_t headerAt(weir_exchange* raw, weir_side side, std::size_t index, weir_str* name, weir_str* value) {
    if (index > std::numeric_limits<std::uint32_t>::max()) return 0;
    const http::FieldTable::Field* field = fieldsOf(raw, side).standing(static_cast<std::uint32_t>(index));
    if (!field) return 0;
    *name = str(field->name);
    *value = str(field->value);
    return 1;
}
weir_status headerSet(weir_exchange* raw, weir_side side, weir_str name, weir_str value) {
    if (!editable(view(name), view(value))) return WEIR_INVALID;
    fieldsOf(raw, side).set(view(name), view(value));
    return WEIR_OK;
}
weir_status headerAdd(weir_exchange* raw, weir_side side, weir_str name, weir_str value) {
    if (!editable(view(name), view(value))) return WEIR_INVALID;
    fieldsOf(raw, side).add(view(name), view(value));
    return WEIR_OK;
}
void headerRemove(weir_exchange* raw, weir_side side, weir_str name) {
    if (!isFraming(view(name))) fieldsOf(raw, side).remove(view(name));
}

std::int32_t statusGet(weir_exchange* raw) { return exchangeOf(raw).response.head.status; }
weir_status statusSet(weir_exchange* raw, std::int32_t status) {
    if (status < 200 || status > 999) return WEIR_INVALID;
    http::ResponseHead& head = exchangeOf(raw).response.head;
    head.status = status;
    head.reason = {};
    return WEIR_OK;
}
weir_status reply(weir_exchange* raw, std::int32_t status, weir_str contentType, weir_str body) {
    if (status < 200 || status > 999 || !http::isFieldValue(view(contentType))) return WEIR_INVALID;
    exchangeOf(raw).reply(status, view(contentType), view(body));
    return WEIR_OK;
}
weir_status replyError(weir_exchange* raw, std::int32_t status, std::int32_t code, weir_str text) {
    if (status < 200 || status > 999) return WEIR_INVALID;
    exchangeOf(raw).replyError(status, code, view(text));
    return WEIR_OK;
}
std::int32_t replied(weir_exchange* raw) { return exchangeOf(raw).replied(); }
void fail(weir_exchange* raw, std::int32_t status, std::int32_t code, weir_str text) {
    exchangeOf(raw).noteFailure(status < 200 || status > 999 ? 500 : status, code, view(text));
}

void routeSet(weir_exchange* raw, const weir_route* route) { exchangeOf(raw).setRoute(*route); }
std::int32_t routeGet(weir_exchange* raw, weir_route* out) {
    const weir_route* route = exchangeOf(raw).route();
    if (!route || out->size < sizeof(weir_route)) return 0;
    *out = *route;
    return 1;
}
std::int32_t upstreamPick(weir_exchange* raw, weir_upstream_set* set, std::uint32_t balancer,
                          const std::uint64_t* excluded) {
    if (!set) return -1;
    try {
        return exchangeOf(raw).pickUpstream(*reinterpret_cast<const upstream::UpstreamSet*>(set), balancer, excluded);
    } catch (const std::exception&) {  // 0, which others answer then, is an upstream
        return -1;
    }
}
std::uint32_t upstreamCount(const weir_upstream_set* set) {
    return set ? static_cast<std::uint32_t>(reinterpret_cast<const upstream::UpstreamSet*>(set)->size()) : 0;
}
std::int32_t upstreamRepeat(weir_exchange* raw, std::int32_t take) { return exchangeOf(raw).askRepeat(take != 0); }
std::int32_t callResult(weir_exchange* raw) { return exchangeOf(raw).callResult; }

weir_operation upstreamCall(weir_exchange* raw) { return exchangeOf(raw).startUpstreamCall(); }
weir_operation requestBody(weir_exchange* raw, std::size_t limit) { return exchangeOf(raw).startReadBody(limit); }
weir_operation sleep(weir_exchange* raw, std::uint64_t ns) { return exchangeOf(raw).startSleep(ns); }
weir_operation offload(weir_exchange* raw, void (*work)(void*), void* arg) {
    return exchangeOf(raw).startOffload(work, arg);
}

weir_status optionSet(weir_exchange* raw, weir_option option, std::int32_t on) {
    switch (option) {
        case WEIR_OPTION_ALLOW_UPGRADE: exchangeOf(raw).upgradeAllowed = on; return WEIR_OK;
        case WEIR_OPTION_PRESERVE_HOST: exchangeOf(raw).preserveHost = on; return WEIR_OK;
    }
    return WEIR_NOT_FOUND;
}

std::int32_t metadataFind(weir_exchange* raw, weir_str path) { return exchangeOf(raw).findMetadata(view(path)); }

std::int32_t metadataGet(weir_exchange* raw, weir_metadata* out) {
    const MetadataIndex::Entry* found = exchangeOf(raw).metadata;
    if (!found) return 0;
    const data::MetaData& data = *found->data;
    weir_metadata all{out->size,
                      0,
                      str(data.id),
                      str(data.appName),
                      str(data.contextPath),
                      str(data.path),
                      str(data.rpcType),
                      str(data.serviceName),
                      str(data.methodName),
                      str(data.parameterTypes),
                      str(found->rpcExt)};
    std::memcpy(out, &all, std::min<std::size_t>(out->size, sizeof all));
    return 1;
}

// Of a request target (RFC 3986 3.3, 3.4), as far as its framing depends on it.
bool isTargetText(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

weir_status querySet(weir_exchange* raw, weir_str query) {
    if (!isTargetText(view(query))) return WEIR_INVALID;
    exchangeOf(raw).setQuery(view(query));
    return WEIR_OK;
}

weir_operation responseBody(weir_exchange* raw, std::size_t limit) { return exchangeOf(raw).startReadResponse(limit); }
weir_status requestBodySet(weir_exchange* raw, weir_str body) {
    return exchangeOf(raw).setRequestBody(view(body)) ? WEIR_OK : WEIR_INVALID;
}
weir_status responseBodySet(weir_exchange* raw, weir_str body) {
    return exchangeOf(raw).setResponseBody(view(body)) ? WEIR_OK : WEIR_INVALID;
}
weir_status contentDecode(weir_exchange* raw, weir_str coding, weir_str body, std::size_t limit, weir_str* out) {
    if (!http::isKnownCoding(view(coding))) return WEIR_NOT_FOUND;
    const auto decoded = http::decodeContent(exchangeOf(raw), view(coding), view(body), limit);
    if (!decoded) return WEIR_INVALID;
    *out = str(*decoded);
    return WEIR_OK;
}
weir_status jsonEditsApply(const weir_json_edits* edits, weir_exchange* raw, weir_str json, weir_str* out) {
    std::string changed;
    if (!HostJson::apply(edits, json, changed)) return WEIR_INVALID;
    *out = str(exchangeOf(raw).copy(changed));
    return WEIR_OK;
}
weir_status redispatch(weir_exchange* raw, weir_str target) {
    if (!view(target).starts_with('/') || !isTargetText(view(target))) return WEIR_INVALID;
    return exchangeOf(raw).redispatch(view(target));
}

// ---- The border ----

// What a module is told when there was no memory for what it asked.
template <class T>
T nothing() {
    if constexpr (std::is_same_v<T, weir_status>) return WEIR_NO_MEMORY;
    else if constexpr (!std::is_void_v<T>) return T{};
}
template <>
std::uint32_t nothing() { return std::numeric_limits<std::uint32_t>::max(); }  // attribute_id, which starts at 0

// Function as the table has it: nothing is thrown into a module. Beside std::bad_alloc, a text of an absurd size throws
// std::length_error.
template <auto Function>
struct Guarded;
template <class Out, class... In, Out (*Function)(In...)>
struct Guarded<Function> {
    static Out call(In... in) noexcept {
        try {
            return Function(in...);
        } catch (const std::exception&) {
            return nothing<Out>();
        }
    }
};
template <auto Function>
constexpr auto guarded = &Guarded<Function>::call;

}  // namespace

HostTable::HostTable(ControlServices& services)
    : weir_host{
          .size = sizeof(weir_host),
          .abi = WEIR_ABI_VERSION,
          .probing = 0,
          .reserved = 0,
          .log = guarded<&chain::log>,
          .allocate = &HostValues::allocate,
          .release = &HostValues::release,
          .now_ns = &HostValues::nowNs,
          .value_kind = &HostValues::kind,
          .value_size = &HostValues::size,
          .value_at = &HostValues::at,
          .value_key_at = &HostValues::keyAt,
          .value_get = &HostValues::get,
          .value_text = &HostValues::text,
          .value_bool = &HostValues::toBool,
          .value_int = &HostValues::toInt,
          .value_double = &HostValues::toDouble,
          .error_set = guarded<&errorSet>,
          .unknown_key = guarded<&unknownKey>,
          .attribute_id = guarded<&attributeId>,
          .balancer_find = guarded<&balancerFind>,
          .upstream_set_create = guarded<&upstreamSetCreate>,
          .upstream_set_release = &upstreamSetRelease,
          .arena_more = guarded<&arenaMore>,
          .arena_large = guarded<&arenaLarge>,
          .arena_large_free = &arenaLargeFree,
          .part = &chain::part,
          .slot_get = &slotGet,
          .slot_set = guarded<&slotSet>,
          .attribute_get = &attributeGet,
          .attribute_set = guarded<&attributeSet>,
          .header_get = &headerGet,
          .header_count = &headerCount,
          .header_at = &headerAt,
          .header_set = guarded<&headerSet>,
          .header_add = guarded<&headerAdd>,
          .header_remove = &headerRemove,
          .status_get = &statusGet,
          .status_set = &statusSet,
          .reply = guarded<&chain::reply>,
          .reply_error = guarded<&chain::replyError>,
          .replied = &chain::replied,
          .fail = guarded<&chain::fail>,
          .route_set = &routeSet,
          .route_get = &routeGet,
          .upstream_pick = &upstreamPick,
          .call_result = &callResult,
          .upstream_call = guarded<&upstreamCall>,
          .request_body = guarded<&requestBody>,
          .sleep = guarded<&chain::sleep>,
          .offload = guarded<&chain::offload>,
          .option_set = &optionSet,
          .metadata_find = &metadataFind,
          .metadata_get = &metadataGet,
          .pattern_compile = guarded<&HostPatterns::compile>,
          .pattern_release = &HostPatterns::release,
          .pattern_groups = &HostPatterns::groups,
          .pattern_find = guarded<&HostPatterns::find>,
          .query_set = guarded<&querySet>,
          .response_body = guarded<&responseBody>,
          .request_body_set = guarded<&requestBodySet>,
          .response_body_set = guarded<&responseBodySet>,
          .content_decode = guarded<&contentDecode>,
          .json_edits_compile = guarded<&HostJson::compile>,
          .json_edits_release = &HostJson::release,
          .json_edits_apply = guarded<&jsonEditsApply>,
          .upstream_count = &upstreamCount,
          .upstream_repeat = &upstreamRepeat,
          .redispatch = guarded<&chain::redispatch>,
      },
      control(services) {}

}  // namespace weir::chain
