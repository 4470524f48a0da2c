#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "weir/abi.h"
#include "weir/data_handler.hpp"
#include "weir/describe.h"
#include "weir/json_edits.hpp"
#include "weir/load_balancer.hpp"
#include "weir/match_strategy.hpp"
#include "weir/parameter_data.hpp"
#include "weir/pattern.hpp"
#include "weir/plugin.hpp"
#include "weir/predicate_judge.hpp"

namespace weir {

// When none of a rule plugin's selectors or rules match.
enum class Unmatched {
    Pass,   // go on with the next plugin
    Error,  // answer -107 or -102, as ShenYu's proxy plugins do
};

struct PluginOptions {
    int order = 0;                                    // place in the chain; PluginData.sort overrides it
    std::array<std::string_view, 8> rpcTypes{};       // entered only for these; empty: for all
    Unmatched unmatched = Unmatched::Pass;            // rule plugins
};

struct LoadBalancerOptions {
    bool weighted = false;  // picks in proportion to weight
    bool sticky = false;    // keeps a client on its upstream while the set stays
};

namespace detail {

template <class T>
struct RulePluginOf {
    template <class Rule, class Selector>
    static std::true_type test(const RulePlugin<Rule, Selector>*);
    static std::false_type test(const void*);
    static constexpr bool value = decltype(test(static_cast<T*>(nullptr)))::value;
};

// Whether T replaces a virtual function of its base. An override that T keeps private cannot be named here, an
// inherited one can: so "cannot be named, or belongs to another class than the base".
template <class T, class Base>
constexpr bool overridesOnRequest() {
    if constexpr (requires { &T::onRequest; })
        return !std::is_same_v<decltype(&T::onRequest), decltype(&Base::onRequest)>;
    else return true;
}
template <class T, class Base>
constexpr bool overridesExecute() {
    if constexpr (requires { &T::execute; })
        return !std::is_same_v<decltype(&T::execute), decltype(&Base::execute)>;
    else return true;
}
template <class T>
constexpr bool overridesFinished() {
    if constexpr (requires { &T::finished; })
        return !std::is_same_v<decltype(&T::finished), void (PluginBase::*)(Exchange&, Finish)>;
    else return true;
}

template <class T>
constexpr bool overridesDone() {
    using Done = void (LoadBalancer::*)(int, std::uint64_t, bool) noexcept;
    if constexpr (requires { &T::done; }) return !std::is_same_v<decltype(&T::done), Done>;
    else return true;
}

template <class T>
struct BaseOf {
    template <class Rule, class Selector>
    static RulePlugin<Rule, Selector> test(const RulePlugin<Rule, Selector>*);
    static Plugin test(const Plugin*);
    using type = decltype(test(static_cast<T*>(nullptr)));
};

// The C table of one plugin class.
template <class T>
class PluginTable {
    using Base = typename BaseOf<T>::type;
    static constexpr bool kRules = RulePluginOf<T>::value;
    static constexpr bool kOnRequest = overridesOnRequest<T, Base>();
    static constexpr bool kExecute = overridesExecute<T, Base>();
    static constexpr bool kFinished = overridesFinished<T>();
    static_assert(kOnRequest != kExecute, "override exactly one of onRequest and execute");

    static Base& base(void* plugin) { return *static_cast<T*>(plugin); }

public:
    static weir_plugin make(std::string_view key) {
        return {sizeof(weir_plugin), 0,        str(key), &create,  &prepare, &release, &destroy,
                &enter,              &resume,  &drop,    kFinished ? &finished : nullptr};
    }

    static std::string describe(std::string_view key, const PluginOptions& options) {
        std::string out = "{\"interface\":\"Plugin\",\"key\":" + quoteJson(key) +
                          ",\"order\":" + std::to_string(options.order) + ",\"rpcTypes\":[";
        for (std::string_view type : options.rpcTypes) {
            if (type.empty()) continue;
            if (out.back() != '[') out += ',';
            out += quoteJson(type);
        }
        out += "],\"matching\":\"" + std::string(kRules ? "rule" : "none") + "\",\"unmatched\":\"" +
               (options.unmatched == Unmatched::Error ? "error" : "pass") + "\",\"fields\":{";
        if constexpr (kRules) {
            out += "\"selector\":" + describeFields<typename Base::Selector>() +
                   ",\"rule\":" + describeFields<typename Base::Rule>();
        }
        return out + "}}";
    }

private:
    static weir_status create(const weir_host* host, void** plugin, weir_error* error) noexcept {
        if (const weir_status adopted = adoptHost(host, error); adopted != WEIR_OK) return adopted;
        return guarded(error, [&] {
            *plugin = new T;
            return WEIR_OK;
        });
    }
    static void destroy(void* plugin) noexcept { delete static_cast<T*>(plugin); }

    static weir_status prepare(void* plugin, weir_scope scope, const weir_value* value, void** handle,
                               weir_error* error) noexcept {
        *handle = nullptr;
        if constexpr (kRules) {
            if (scope == WEIR_SCOPE_RULE) {
                return read<typename Base::Rule>(value, handle, error,
                                                 [&](auto& made) { return base(plugin).prepareRule(made, error); });
            }
            if constexpr (!std::is_same_v<typename Base::Selector, NoHandle>) {
                if (scope == WEIR_SCOPE_SELECTOR) {
                    return read<typename Base::Selector>(
                        value, handle, error, [&](auto& made) { return base(plugin).prepareSelector(made, error); });
                }
            }
        }
        return WEIR_OK;
    }

    template <class Handle, class Finish>
    static weir_status read(const weir_value* value, void** handle, weir_error* error, Finish finish) noexcept {
        return guarded(error, [&] {
            auto made = std::make_unique<Handle>();
            if (value && !HandleReader(error).read(value, *made)) return WEIR_INVALID;
            if (!finish(*made)) return WEIR_INVALID;
            *handle = made.release();
            return WEIR_OK;
        });
    }

    static void release(void*, weir_scope scope, void* handle) noexcept {
        if constexpr (kRules) {
            if (scope == WEIR_SCOPE_RULE) delete static_cast<typename Base::Rule*>(handle);
            if constexpr (!std::is_same_v<typename Base::Selector, NoHandle>) {
                if (scope == WEIR_SCOPE_SELECTOR) delete static_cast<typename Base::Selector*>(handle);
            }
        }
    }

    // Calls `function` with what the base's signature takes behind the exchange (and next).
    template <class Function>
    static auto withHandles(const weir_match* match, Function function) {
        if constexpr (!kRules) {
            return function();
        } else if constexpr (std::is_same_v<typename Base::Selector, NoHandle>) {
            return function(*static_cast<const typename Base::Rule*>(match->rule));
        } else {
            return function(*static_cast<const typename Base::Rule*>(match->rule),
                            *static_cast<const typename Base::Selector*>(match->selector));
        }
    }

    static std::int32_t enter(void* plugin, weir_exchange* raw, const weir_match* match, weir_outcome* out) noexcept {
        Exchange& exchange = Exchange::from(raw);
        if constexpr (kExecute) {
            return startTask(raw, out, [&] {
                return withHandles(match, [&](const auto&... handles) {
                    return base(plugin).execute(exchange, Next(), handles...);
                });
            });
        } else {
            out->frame = nullptr;
            try {
                return static_cast<std::int32_t>(withHandles(
                    match, [&](const auto&... handles) { return base(plugin).onRequest(exchange, handles...); }));
            } catch (...) {
                const ErrorRecord* error = recordCurrentException(*raw);
                hostTable->fail(raw, error->status, error->code, str(error->text));
                return WEIR_FAILED;
            }
        }
    }

    static std::int32_t resume(void*, weir_exchange*, weir_frame* frame, const weir_event* event,
                               weir_outcome* out) noexcept {
        return resumeTask(frame, event, out);
    }
    static void drop(void*, weir_exchange*, weir_frame* frame) noexcept { dropTask(frame); }
    static void finished(void* plugin, weir_exchange* raw, weir_finish how) noexcept {
        try {
            static_cast<PluginBase&>(base(plugin)).finished(Exchange::from(raw), static_cast<Finish>(how));
        } catch (const std::exception& error) {
            Host().log(LogLevel::Error, error.what());
        } catch (...) {
            Host().log(LogLevel::Error, "finished() threw an exception of an unknown type");
        }
    }
};

template <class T>
class LoadBalancerTable {
public:
    static weir_load_balancer make(std::string_view key) {
        return {sizeof(weir_load_balancer), 0, str(key), &create, &destroy, &pick,
                overridesDone<T>() ? &done : nullptr};
    }

private:
    static weir_status create(const weir_host* host, const weir_upstream* set, std::size_t count, void** state,
                              weir_error* error) noexcept {
        if (const weir_status adopted = adoptHost(host, error); adopted != WEIR_OK) return adopted;
        return guarded(error, [&] {
            std::vector<Upstream> upstreams;
            for (std::size_t i = 0; i < count; ++i) {
                const weir_upstream& one = set[i];
                upstreams.push_back({std::string(view(one.protocol)), std::string(view(one.url)), one.weight,
                                     one.status != 0, one.gray != 0, one.timestamp_ms, one.warmup_ms});
            }
            *state = static_cast<LoadBalancer*>(new T(upstreams));
            return WEIR_OK;
        });
    }
    static void destroy(void* state) noexcept { delete static_cast<LoadBalancer*>(state); }
    static std::int32_t pick(void* state, const weir_pick* request) noexcept {
        return static_cast<LoadBalancer*>(state)->pick({view(request->client_address), request->excluded});
    }
    static void done(void* state, std::int32_t index, std::uint64_t latencyNs, std::int32_t failed) noexcept {
        static_cast<LoadBalancer*>(state)->done(index, latencyNs, failed != 0);
    }
};

// What a module lists in WEIR_MODULE, by interface.
struct PluginEntry {
    static constexpr std::string_view kInterface = WEIR_INTERFACE_PLUGIN;
    using List = weir_plugin_list;

    weir_plugin table;
    std::string (*describeClass)(std::string_view, const PluginOptions&);
    PluginOptions options;

    std::string describe() const { return describeClass(view(table.key), options); }
};
struct LoadBalancerEntry {
    static constexpr std::string_view kInterface = WEIR_INTERFACE_LOAD_BALANCER;
    using List = weir_load_balancer_list;

    weir_load_balancer table;
    LoadBalancerOptions options;

    std::string describe() const {
        return "{\"interface\":\"LoadBalancer\",\"key\":" + quoteJson(view(table.key)) +
               ",\"weighted\":" + (options.weighted ? "true" : "false") +
               ",\"sticky\":" + (options.sticky ? "true" : "false") + "}";
    }
};
// An entry that a manifest has nothing more to say of.
inline std::string describeKey(std::string_view interface, weir_str key) {
    return "{\"interface\":" + quoteJson(interface) + ",\"key\":" + quoteJson(view(key)) + "}";
}
struct DataHandlerEntry {
    static constexpr std::string_view kInterface = WEIR_INTERFACE_PLUGIN_DATA_HANDLER;
    using List = weir_plugin_data_handler_list;

    weir_plugin_data_handler table;

    std::string describe() const { return describeKey("PluginDataHandler", table.key); }
};
struct ParameterDataEntry {
    static constexpr std::string_view kInterface = WEIR_INTERFACE_PARAMETER_DATA;
    using List = weir_parameter_data_list;

    weir_parameter_data table;

    std::string describe() const { return describeKey("ParameterData", table.key); }
};
struct PredicateJudgeEntry {
    static constexpr std::string_view kInterface = WEIR_INTERFACE_PREDICATE_JUDGE;
    using List = weir_predicate_judge_list;

    weir_predicate_judge table;

    std::string describe() const { return describeKey("PredicateJudge", table.key); }
};
struct MatchStrategyEntry {
    static constexpr std::string_view kInterface = WEIR_INTERFACE_MATCH_STRATEGY;
    using List = weir_match_strategy_list;

    weir_match_strategy table;

    std::string describe() const { return describeKey("MatchStrategy", table.key); }
};

// A module's entries of one interface, and the list of their tables that the host asks for.
template <class Entry, std::size_t Count>
class Section {
public:
    Section() = default;
    Section(const Section&) = delete;  // the list points into this object

    void add(const Entry& entry) {
        entries_[list_.count] = entry;
        items_[list_.count] = &entries_[list_.count].table;
        ++list_.count;
    }
    const void* find(std::string_view interface) const {
        return Count > 0 && interface == Entry::kInterface ? &list_ : nullptr;
    }
    void describe(std::string& out) const {
        for (std::size_t i = 0; i < Count; ++i) {
            if (out.size() > 1) out += ',';
            out += entries_[i].describe();
        }
    }

private:
    using Table = decltype(Entry::table);

    Entry entries_[Count + 1]{};
    const Table* items_[Count + 1]{};
    typename Entry::List list_{sizeof(typename Entry::List), 0, items_};
};

template <class Wanted, class... Entries>
constexpr std::size_t kCountOf = (0 + ... + std::is_same_v<Entries, Wanted>);

// Everything a module provides, in static storage of the module.
template <class... Entries>
class Provided {
public:
    explicit Provided(const Entries&... entries) {
        (std::get<SectionOf<Entries>>(sections_).add(entries), ...);
    }

    const void* find(std::string_view interface) const {
        const void* list = nullptr;
        std::apply([&](const auto&... sections) { ((list = sections.find(interface)) || ...); }, sections_);
        return list;
    }
    void describe(void (*write)(void*, const char*, std::size_t), void* context) const {
        std::string out = "[";
        std::apply([&](const auto&... sections) { (sections.describe(out), ...); }, sections_);
        out += "]";
        write(context, out.data(), out.size());
    }

private:
    template <class Entry>
    using SectionOf = Section<Entry, kCountOf<Entry, Entries...>>;

    std::tuple<SectionOf<PluginEntry>, SectionOf<LoadBalancerEntry>, SectionOf<DataHandlerEntry>,
               SectionOf<ParameterDataEntry>, SectionOf<PredicateJudgeEntry>, SectionOf<MatchStrategyEntry>>
        sections_;
};

}  // namespace detail

// One plugin of a module: its name in the data, and where in the chain it stands.
template <class T>
detail::PluginEntry plugin(std::string_view key, PluginOptions options = {}) {
    return {detail::PluginTable<T>::make(key), &detail::PluginTable<T>::describe, options};
}
// One balancer of a module; T is constructed from `const std::vector<weir::Upstream>&`.
template <class T>
detail::LoadBalancerEntry loadBalancer(std::string_view key, LoadBalancerOptions options = {}) {
    return {detail::LoadBalancerTable<T>::make(key), options};
}
// A handler of the data of plugin `key`; T is default constructed.
template <class T>
detail::DataHandlerEntry pluginDataHandler(std::string_view key) {
    return {detail::DataHandlerTable::make<T>(key)};
}
// A parameter type, `key` in conditions' paramType; T is constructed from `const std::string& paramName`.
template <class T>
detail::ParameterDataEntry parameterData(std::string_view key) {
    return {detail::ParameterDataTable::make<T>(key)};
}
// An operator of conditions; T is constructed from `const weir::Condition&`.
template <class T>
detail::PredicateJudgeEntry predicateJudge(std::string_view key, PredicateJudgeOptions options = {}) {
    return {detail::PredicateJudgeTable::make<T>(key, options)};
}
// A match mode, by its name in matchMode; T is default constructed.
template <class T>
detail::MatchStrategyEntry matchStrategy(std::string_view key) {
    return {detail::MatchStrategyTable::make<T>(key)};
}

}  // namespace weir

// Once per module, at namespace scope: WEIR_MODULE(weir::plugin<Greet>("greet", {.order = 150}))
#define WEIR_MODULE(...)                                                                                     \
    namespace {                                                                                              \
    const ::weir::detail::Provided weirProvided{__VA_ARGS__};                                                \
    const weir_describe weirDescribe{sizeof(weir_describe),                                                  \
                                     [](void (*write)(void*, const char*, size_t), void* context) {          \
                                         weirProvided.describe(write, context);                              \
                                     }};                                                                     \
    const void* weirFind(const char* interface) {                                                            \
        if (std::strcmp(interface, WEIR_INTERFACE_DESCRIBE) == 0) return &weirDescribe;                      \
        return weirProvided.find(interface);                                                                 \
    }                                                                                                        \
    }                                                                                                        \
    extern "C" {                                                                                             \
    extern __attribute__((visibility("default"))) const weir_module weir_module_v1;                          \
    }                                                                                                        \
    const weir_module weir_module_v1 = {sizeof(weir_module), WEIR_ABI_VERSION, &weirFind};
