#pragma once

#include <array>
#include <cctype>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_edit.hpp"
#include "base/value.hpp"
#include "weir/abi.h"

// A gateway that is only a table: values come from base::Value, an exchange is a bag of fields. Enough to call a module
// by hand, one step at a time; what a chain does with the answers is tested elsewhere.

namespace weir::test {

inline std::string text(weir_str view) { return view.data ? std::string(view.data, view.size) : std::string(); }
inline weir_str str(std::string_view view) { return {view.data(), view.size()}; }

// What a refusal said.
struct FakeError {
    std::string path;
    std::string text;
    std::vector<std::string> unknownKeys;

    weir_error* raw() { return reinterpret_cast<weir_error*>(this); }
    std::string whole() const { return path.empty() ? text : path + ": " + text; }
};

struct FakeUpstream {
    std::string protocol;
    std::string url;
    std::uint32_t weight;
    bool status;
    bool gray;
    std::int64_t timestampMs;
    std::int64_t warmupMs;
    bool checked;
};

struct FakeSet {
    std::vector<FakeUpstream> upstreams;
    static inline int alive = 0;

    FakeSet() { ++alive; }
    ~FakeSet() { --alive; }
    static FakeSet& of(weir_upstream_set* raw) { return *reinterpret_cast<FakeSet*>(raw); }
    weir_upstream_set* raw() { return reinterpret_cast<weir_upstream_set*>(this); }
};

struct FakeExchange : weir_exchange {
    using Fields = std::vector<std::pair<std::string, std::string>>;

    std::string method = "GET";
    std::string path = "/";
    std::optional<std::string> query;
    std::array<Fields, 2> fields;  // by weir_side
    std::array<std::optional<std::string>, WEIR_SLOT_COUNT> slots;
    int status = 0;
    int errorCode = 0;
    std::string body;
    bool replied = false;
    std::optional<std::string> target;  // redispatched to
    std::optional<weir_route> route;
    int call = WEIR_CALL_NONE;
    int picks = 0;       // what upstream_pick answers
    int failPicks = 0;   // how often it answers -1 before that
    std::vector<std::vector<std::uint64_t>> excluded;  // what each pick left out, by words; empty: nothing
    int calls = 0;       // how often upstream_call was asked for
    std::uint64_t lastExcluded = 0;     // what the last upstream_pick was told, of the first 64
    int repeat = WEIR_REPEAT_NOW;       // what upstream_repeat answers
    int busy = 0;                       // how often it answers LATER before, when asked to take a place
    std::vector<std::uint64_t> sleeps;  // ns
    std::string metadataPath;  // where metadata_find finds an entry, with this as its id; "": nowhere
    bool metadataFound = false;
    bool memory = true;  // for the arena
    std::vector<std::unique_ptr<char[]>> blocks;
    std::vector<std::unique_ptr<std::string>> texts;  // that live as long as the exchange

    FakeExchange() : weir_exchange{} {}
    explicit FakeExchange(std::string requestPath, Fields request = {})
        : weir_exchange{}, path(std::move(requestPath)) {
        fields[WEIR_REQUEST] = std::move(request);
    }
    static FakeExchange& of(weir_exchange* raw) { return static_cast<FakeExchange&>(*raw); }
    std::string slot(weir_slot which) const { return slots[which].value_or("(unset)"); }
    std::string field(weir_side side, std::string_view name) const {
        for (const auto& [key, value] : fields[side]) {
            if (key == name) return value;
        }
        return "(none)";
    }
};

namespace detail {

inline const base::Value& value(const weir_value* raw) {
    static const base::Value kNull;
    return raw ? *reinterpret_cast<const base::Value*>(raw) : kNull;
}
inline const weir_value* raw(const base::Value* value) { return reinterpret_cast<const weir_value*>(value); }

inline weir_kind kind(const weir_value* v) {
    switch (value(v).kind()) {
        case base::Value::Kind::Scalar: return WEIR_SCALAR;
        case base::Value::Kind::Array: return WEIR_ARRAY;
        case base::Value::Kind::Object: return WEIR_OBJECT;
        default: return WEIR_NULL;
    }
}

template <class Optional, class Out>
std::int32_t give(const Optional& found, Out* out) {
    if (found) *out = static_cast<Out>(*found);
    return found.has_value();
}

inline bool sameName(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto lower = [i](std::string_view name) { return std::tolower(static_cast<unsigned char>(name[i])); };
        if (lower(a) != lower(b)) return false;
    }
    return true;
}

inline void setValueServices(weir_host& host) {
    host.value_kind = kind;
    host.value_size = [](const weir_value* v) {
        return value(v).isArray() ? value(v).items().size() : value(v).members().size();
    };
    host.value_at = [](const weir_value* v, std::size_t i) -> const weir_value* {
        if (value(v).isArray()) return i < value(v).items().size() ? raw(&value(v).items()[i]) : nullptr;
        return i < value(v).members().size() ? raw(&value(v).members()[i].value) : nullptr;
    };
    host.value_key_at = [](const weir_value* v, std::size_t i) {
        return i < value(v).members().size() ? str(value(v).members()[i].key) : weir_str{};
    };
    host.value_get = [](const weir_value* v, weir_str key) -> const weir_value* {
        const base::Value* found = value(v).find({key.data, key.size});
        return found && !found->isNull() ? raw(found) : nullptr;
    };
    host.value_text = [](const weir_value* v) { return str(value(v).text()); };
    host.value_bool = [](const weir_value* v, std::int32_t* out) { return give(value(v).toBool(), out); };
    host.value_int = [](const weir_value* v, std::int64_t* out) { return give(value(v).toInt(), out); };
    host.value_double = [](const weir_value* v, double* out) { return give(value(v).toDouble(), out); };
    host.error_set = [](weir_error* error, weir_str path, weir_str message) {
        auto& fake = *reinterpret_cast<FakeError*>(error);
        fake.path = text(path);
        fake.text = text(message);
    };
    host.unknown_key = [](weir_error* error, weir_str path) {
        reinterpret_cast<FakeError*>(error)->unknownKeys.push_back(text(path));
    };
}

inline void setUpstreamServices(weir_host& host) {
    host.balancer_find = [](const weir_host* self, weir_str name, std::uint32_t* id, weir_error* error) {
        if (text(name) != "random" && text(name) != "roundRobin") {
            self->error_set(error, str("loadBalance"), str("no load balancer is called '" + text(name) + "'"));
            return WEIR_NOT_FOUND;
        }
        *id = text(name) == "random" ? 1 : 2;
        return WEIR_OK;
    };
    // Refuses urls that begin with "bad", keeps everything else, usable or not.
    host.upstream_set_create = [](const weir_host* self, const weir_upstream* list, std::size_t count,
                                  weir_upstream_set** out, weir_error* error) {
        auto set = std::make_unique<FakeSet>();
        for (std::size_t i = 0; i < count; ++i) {
            const weir_upstream& one = list[i];
            if (text(one.url).starts_with("bad")) {
                self->error_set(error, str("url"), str("is bad"));
                return WEIR_INVALID;
            }
            set->upstreams.push_back({text(one.protocol), text(one.url), one.weight, one.status != 0, one.gray != 0,
                                      one.timestamp_ms, one.warmup_ms, one.status != WEIR_UPSTREAM_UNCHECKED});
        }
        *out = set.release()->raw();
        return WEIR_OK;
    };
    host.upstream_set_release = [](weir_upstream_set* set) { delete &FakeSet::of(set); };
    host.route_set = [](weir_exchange* e, const weir_route* route) { FakeExchange::of(e).route = *route; };
    host.route_get = [](weir_exchange* e, weir_route* out) -> std::int32_t {
        return give(FakeExchange::of(e).route, out);
    };
    host.upstream_pick = [](weir_exchange* e, weir_upstream_set* set, std::uint32_t, const std::uint64_t* excluded) {
        FakeExchange& exchange = FakeExchange::of(e);
        exchange.lastExcluded = excluded ? *excluded : 0;
        const std::size_t words = excluded && set ? (FakeSet::of(set).upstreams.size() + 63) / 64 : 0;
        exchange.excluded.emplace_back(excluded, excluded + words);
        return exchange.failPicks-- > 0 ? -1 : static_cast<std::int32_t>(exchange.picks);
    };
    host.upstream_count = [](const weir_upstream_set* set) {
        return static_cast<std::uint32_t>(reinterpret_cast<const FakeSet*>(set)->upstreams.size());
    };
    host.upstream_repeat = [](weir_exchange* e, std::int32_t take) -> std::int32_t {
        FakeExchange& exchange = FakeExchange::of(e);
        if (take && exchange.busy > 0) return --exchange.busy, WEIR_REPEAT_LATER;
        return exchange.repeat;
    };
    host.sleep = [](weir_exchange* e, std::uint64_t ns) -> weir_operation {
        FakeExchange::of(e).sleeps.push_back(ns);
        return 1;
    };
    host.call_result = [](weir_exchange* e) -> std::int32_t { return FakeExchange::of(e).call; };
    host.upstream_call = [](weir_exchange* e) -> weir_operation {
        return static_cast<weir_operation>(++FakeExchange::of(e).calls);
    };
}

inline void setJsonServices(weir_host& host) {
    host.json_edits_compile = [](const weir_host* self, const weir_json_edit* list, std::size_t count,
                                 weir_json_edits** out, weir_error* error) {
        auto edits = std::make_unique<base::JsonEdits>();
        for (std::size_t i = 0; i < count; ++i) {
            const auto kind = static_cast<base::JsonEdit::Kind>(list[i].change);
            const std::string path = text(list[i].path);
            const auto appended = edits->append({kind, path, text(list[i].key), text(list[i].value)});
            if (appended.ok()) continue;
            self->error_set(error, list[i].where, str(appended.error().message));
            return WEIR_INVALID;
        }
        *out = reinterpret_cast<weir_json_edits*>(edits.release());
        return WEIR_OK;
    };
    host.json_edits_release = [](weir_json_edits* edits) { delete reinterpret_cast<base::JsonEdits*>(edits); };
    host.json_edits_apply = [](const weir_json_edits* edits, weir_exchange* e, weir_str json, weir_str* out) {
        FakeExchange& exchange = FakeExchange::of(e);
        if (!exchange.memory) return WEIR_NO_MEMORY;
        std::string made;
        if (!reinterpret_cast<const base::JsonEdits*>(edits)->apply(text(json), made)) return WEIR_INVALID;
        exchange.texts.push_back(std::make_unique<std::string>(std::move(made)));
        *out = str(*exchange.texts.back());
        return WEIR_OK;
    };
}

inline void setMessageServices(weir_host& host) {
    host.part = [](weir_exchange* e, weir_part part) {
        if (part == WEIR_PART_METHOD) return str(FakeExchange::of(e).method);
        const auto& query = FakeExchange::of(e).query;
        if (part == WEIR_PART_QUERY) return query ? str(*query) : weir_str{};
        return part == WEIR_PART_PATH ? str(FakeExchange::of(e).path) : weir_str{};
    };
    host.query_set = [](weir_exchange* e, weir_str value) {
        auto& query = FakeExchange::of(e).query;
        query.reset();
        if (value.data) query = text(value);
        return WEIR_OK;
    };
    host.slot_get = [](weir_exchange* e, weir_slot slot) {
        const auto& found = FakeExchange::of(e).slots[slot];
        return found ? str(*found) : weir_str{};
    };
    host.slot_set = [](weir_exchange* e, weir_slot slot, weir_str value) {
        auto& target = FakeExchange::of(e).slots[slot];
        target.reset();
        if (value.data) target = text(value);
    };
    host.header_get = [](weir_exchange* e, weir_side side, weir_str name) {
        for (const auto& [key, value] : FakeExchange::of(e).fields[side]) {
            if (sameName(key, text(name))) return str(value);
        }
        return weir_str{};
    };
    host.header_at = [](weir_exchange* e, weir_side side, std::size_t i, weir_str* name,
                        weir_str* value) -> std::int32_t {
        const auto& fields = FakeExchange::of(e).fields[side];
        if (i >= fields.size()) return 0;
        *name = str(fields[i].first);
        *value = str(fields[i].second);
        return 1;
    };
    host.header_set = [](weir_exchange* e, weir_side side, weir_str name, weir_str value) {
        auto& fields = FakeExchange::of(e).fields[side];
        std::erase_if(fields, [&](const auto& one) { return sameName(one.first, text(name)); });
        fields.emplace_back(text(name), text(value));
        return WEIR_OK;
    };
    host.status_get = [](weir_exchange* e) -> std::int32_t { return FakeExchange::of(e).status; };
    host.reply_error = [](weir_exchange* e, std::int32_t status, std::int32_t code, weir_str message) {
        FakeExchange& exchange = FakeExchange::of(e);
        exchange.status = status;
        exchange.errorCode = code;
        exchange.body = text(message);
        exchange.replied = true;
        return WEIR_OK;
    };
    host.reply = [](weir_exchange* e, std::int32_t status, weir_str contentType, weir_str body) {
        FakeExchange& exchange = FakeExchange::of(e);
        if (contentType.data) exchange.fields[WEIR_RESPONSE].emplace_back("Content-Type", text(contentType));
        exchange.status = status;
        exchange.body = text(body);
        exchange.replied = true;
        return WEIR_OK;
    };
    host.redispatch = [](weir_exchange* e, weir_str target) {
        FakeExchange::of(e).target = text(target);
        FakeExchange::of(e).replied = true;
        return WEIR_OK;
    };
    host.replied = [](weir_exchange* e) -> std::int32_t { return FakeExchange::of(e).replied; };
    host.fail = [](weir_exchange* e, std::int32_t status, std::int32_t code, weir_str message) {
        FakeExchange& exchange = FakeExchange::of(e);
        exchange.status = status;
        exchange.errorCode = code;
        exchange.body = text(message);
    };
    host.metadata_find = [](weir_exchange* e, weir_str path) -> std::int32_t {
        FakeExchange& exchange = FakeExchange::of(e);
        return exchange.metadataFound = !exchange.metadataPath.empty() && text(path) == exchange.metadataPath;
    };
    host.metadata_get = [](weir_exchange* e, weir_metadata* out) -> std::int32_t {
        const FakeExchange& exchange = FakeExchange::of(e);
        if (!exchange.metadataFound) return 0;
        const weir_str path = str(exchange.metadataPath);
        *out = {out->size,        0,          path,        str("app"),    str("/context"),
                path,             str("grpc"), str("service"), str("method"), str("types"),
                str("{\"a\":1}")};
        return 1;
    };
    host.arena_more = [](weir_exchange* e, std::size_t size) -> void* {
        if (!FakeExchange::of(e).memory) return nullptr;
        return FakeExchange::of(e).blocks.emplace_back(new char[size]).get();
    };
    host.arena_large = host.arena_more;
    host.arena_large_free = [](weir_exchange*, void*, std::size_t) {};
}

}  // namespace detail

inline const weir_host& fakeHost() {
    static const weir_host host = [] {
        weir_host table{};
        table.size = sizeof table;
        table.abi = WEIR_ABI_VERSION;
        table.log = [](weir_log_level, weir_str) {};
        table.now_ns = [] {
            return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
        };
        detail::setValueServices(table);
        detail::setUpstreamServices(table);
        detail::setMessageServices(table);
        detail::setJsonServices(table);
        return table;
    }();
    return host;
}

// The fake host, with a log that is kept: the level's number and the text.
inline std::vector<std::string>& loggedLines() {
    static std::vector<std::string> lines;
    return lines;
}
inline const weir_host& loggingHost() {
    static const weir_host host = [] {
        weir_host made = fakeHost();
        made.log = [](weir_log_level level, weir_str text) {
            loggedLines().push_back(std::to_string(level) + " " + std::string(text.data, text.size));
        };
        return made;
    }();
    return host;
}

// JSON text as a value that a module can be given. Lives as long as this object.
class FakeValue {
public:
    explicit FakeValue(std::string_view json) : value_(base::parseJson(json).value()) {}
    const weir_value* raw() const { return detail::raw(&value_); }

private:
    base::Value value_;
};

}  // namespace weir::test
