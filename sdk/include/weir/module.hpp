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
#include "weir/plugin_table.hpp"
#include "weir/predicate_judge.hpp"

namespace weir {

struct LoadBalancerOptions {
    bool weighted = false;  // picks in proportion to weight
    bool sticky = false;    // keeps a client on its upstream while the set stays
};

namespace detail {

template <class T>
constexpr bool overridesDone() {
    using Done = void (LoadBalancer::*)(int, std::uint64_t, bool) noexcept;
    if constexpr (requires { &T::done; }) return !std::is_same_v<decltype(&T::done), Done>;
    else return true;
}

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
