#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "weir/abi.h"
#include "weir/plugin.hpp"

// From a class to the C table and the manifest's entry of its plugin.

namespace weir::detail {

template <class T>
struct RulePluginOf {
    template <class Rule, class Selector, class Config>
    static std::true_type test(const RulePlugin<Rule, Selector, Config>*);
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
struct BaseOf {
    template <class Rule, class Selector, class Config>
    static RulePlugin<Rule, Selector, Config> test(const RulePlugin<Rule, Selector, Config>*);
    template <class Config>
    static ConfiguredPlugin<Config> test(const ConfiguredPlugin<Config>*);
    static Plugin test(const Plugin*);
    using type = decltype(test(static_cast<T*>(nullptr)));
};

// The C table of one plugin class.
template <class T>
class PluginTable {
    using Base = typename BaseOf<T>::type;
    static constexpr bool kRules = RulePluginOf<T>::value;
    template <class Handle>
    static constexpr bool kHas = !std::is_same_v<Handle, NoHandle>;
    static constexpr bool kOnRequest = overridesOnRequest<T, Base>();
    static constexpr bool kExecute = overridesExecute<T, Base>();
    static constexpr bool kFinished = overridesFinished<T>();
    static_assert(kOnRequest || kExecute, "override onRequest or execute");

    static Base& base(void* plugin) { return *static_cast<T*>(plugin); }

    // These two call T's function itself where T shows it, as what `create` has made is a T; else by way of its base.
    template <class... Handles>
    static Answer onRequest(void* plugin, Exchange& exchange, const Handles&... handles) {
        if constexpr (requires(T& it) { it.T::onRequest(exchange, handles...); })
            return static_cast<T*>(plugin)->T::onRequest(exchange, handles...);
        else return base(plugin).onRequest(exchange, handles...);
    }
    template <class... Handles>
    static Task<> execute(void* plugin, Exchange& exchange, const Handles&... handles) {
        if constexpr (requires(T& it) { it.T::execute(exchange, Next(), handles...); })
            return static_cast<T*>(plugin)->T::execute(exchange, Next(), handles...);
        else return base(plugin).execute(exchange, Next(), handles...);
    }

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
        if constexpr (kHas<typename Base::Config>)
            out += "\"config\":" + describeFields<typename Base::Config>() + (kRules ? "," : "");
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
        if constexpr (kHas<typename Base::Config>) {
            if (scope == WEIR_SCOPE_CONFIG) {
                return read<typename Base::Config>(value, handle, error,
                                                   [&](auto& made) { return base(plugin).prepareConfig(made, error); });
            }
        }
        if constexpr (kRules) {
            if (scope == WEIR_SCOPE_RULE) {
                return read<typename Base::Rule>(value, handle, error,
                                                 [&](auto& made) { return base(plugin).prepareRule(made, error); });
            }
            if constexpr (kHas<typename Base::Selector>) {
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
        if constexpr (kHas<typename Base::Config>) {
            if (scope == WEIR_SCOPE_CONFIG) delete static_cast<typename Base::Config*>(handle);
        }
        if constexpr (kRules) {
            if (scope == WEIR_SCOPE_RULE) delete static_cast<typename Base::Rule*>(handle);
            if constexpr (kHas<typename Base::Selector>) {
                if (scope == WEIR_SCOPE_SELECTOR) delete static_cast<typename Base::Selector*>(handle);
            }
        }
    }

    // One handle as an argument, or none where the plugin has none.
    template <class Handle>
    static auto argument(const void* handle) {
        if constexpr (kHas<Handle>) return std::tuple<const Handle&>(*static_cast<const Handle*>(handle));
        else return std::tuple<>();
    }
    // Calls `function` with what the base's signature takes behind the exchange (and next).
    template <class Function>
    static auto withHandles(const weir_match* match, Function function) {
        if constexpr (kRules) {
            return std::apply(function, std::tuple_cat(std::tuple<const typename Base::Rule&>(
                                                           *static_cast<const typename Base::Rule*>(match->rule)),
                                                       argument<typename Base::Selector>(match->selector),
                                                       argument<typename Base::Config>(match->config)));
        } else if constexpr (kHas<typename Base::Config>) {
            return function(*static_cast<const typename Base::Config*>(match->config));
        } else {
            return function();
        }
    }

    static std::int32_t enter(void* plugin, weir_exchange* raw, const weir_match* match, weir_outcome* out) noexcept {
        if constexpr (kOnRequest) {
            const std::int32_t answer = request(plugin, raw, match, out);
            if (!kExecute || answer != static_cast<std::int32_t>(Answer::Execute)) return answer;
        }
        if constexpr (kExecute) {
            return startTask(raw, out, [&] {
                return withHandles(match, [&](const auto&... handles) {
                    return execute(plugin, Exchange::from(raw), handles...);
                });
            });
        }
    }
    static std::int32_t request(void* plugin, weir_exchange* raw, const weir_match* match,
                                weir_outcome* out) noexcept {
        out->frame = nullptr;
        try {
            return static_cast<std::int32_t>(withHandles(match, [&](const auto&... handles) {
                return onRequest(plugin, Exchange::from(raw), handles...);
            }));
        } catch (...) {
            const ErrorRecord* error = recordCurrentException(*raw);
            hostTable->fail(raw, error->status, error->code, str(error->text));
            return WEIR_FAILED;
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

}  // namespace weir::detail
