#pragma once

#include <cstdio>
#include <exception>
#include <string_view>

#include "weir/host.hpp"
#include "weir/value.hpp"

namespace weir {

// Hears of the data of one plugin (ShenYu's PluginDataHandler), whether this module provides that plugin or not.
// Override what is wanted. A new object is told all data in force: the plugin, then its selectors, then its rules;
// afterwards each change. A changed record comes whole, a removed one as it was.
//
// Records have ShenYu's keys (PluginData, SelectorData, RuleData); `handle` and `config` are JSON texts in them. They
// are valid until the call returns: copy what you keep. All calls come on the control thread, one after the other; what
// requests read meanwhile needs its own synchronisation. An exception is logged and changes nothing else.
class PluginDataHandler {
public:
    virtual ~PluginDataHandler() = default;

    virtual void onPlugin(Value /*plugin*/) {}  // ShenYu: handlerPlugin
    virtual void onSelector(Value /*selector*/) {}
    virtual void onRule(Value /*rule*/) {}

    virtual void onPluginRemoved(Value /*plugin*/) {}  // ShenYu: removePlugin
    virtual void onSelectorRemoved(Value /*selector*/) {}
    virtual void onRuleRemoved(Value /*rule*/) {}

protected:
    PluginDataHandler() = default;
    Host host() const { return Host(); }
};

namespace detail {

// The C table of a handler class.
class DataHandlerTable {
    using Handler = PluginDataHandler;
    using Function = void (Handler::*)(Value);

public:
    template <class T>
    static weir_plugin_data_handler make(std::string_view key) {
        return {sizeof(weir_plugin_data_handler), 0, str(key), &create<T>, &destroy, &upserted, &removed};
    }

private:
    template <class T>
    static weir_status create(const weir_host* host, void** handler, weir_error* error) noexcept {
        if (const weir_status adopted = adoptHost(host, error); adopted != WEIR_OK) return adopted;
        return guarded(error, [&] {
            *handler = static_cast<Handler*>(new T);
            return WEIR_OK;
        });
    }
    static void destroy(void* handler) noexcept { delete static_cast<Handler*>(handler); }

    static void upserted(void* handler, weir_data_kind kind, const weir_value* record) noexcept {
        switch (kind) {
            case WEIR_DATA_PLUGIN: return call(handler, "onPlugin", &Handler::onPlugin, record);
            case WEIR_DATA_SELECTOR: return call(handler, "onSelector", &Handler::onSelector, record);
            case WEIR_DATA_RULE: return call(handler, "onRule", &Handler::onRule, record);
        }
    }
    static void removed(void* handler, weir_data_kind kind, const weir_value* record) noexcept {
        switch (kind) {
            case WEIR_DATA_PLUGIN: return call(handler, "onPluginRemoved", &Handler::onPluginRemoved, record);
            case WEIR_DATA_SELECTOR: return call(handler, "onSelectorRemoved", &Handler::onSelectorRemoved, record);
            case WEIR_DATA_RULE: return call(handler, "onRuleRemoved", &Handler::onRuleRemoved, record);
        }
    }

    static void call(void* handler, const char* name, Function function, const weir_value* record) noexcept {
        try {
            (static_cast<Handler*>(handler)->*function)(Value(record));
        } catch (const std::exception& error) {
            logFailure(name, record, error.what());
        } catch (...) {
            logFailure(name, record, "an exception of an unknown type");
        }
    }
    static void logFailure(const char* name, const weir_value* record, const char* what) noexcept {
        const std::string_view id = Value(record)["id"].text();
        char line[256];  // memory may be what is missing
        std::snprintf(line, sizeof line, "%s() threw for the record \"%.*s\": %s", name, static_cast<int>(id.size()),
                      id.empty() ? "" : id.data(), what);
        Host().log(LogLevel::Error, line);
    }
};

}  // namespace detail

}  // namespace weir
