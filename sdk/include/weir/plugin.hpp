#pragma once

#include <array>
#include <string_view>

#include "weir/exchange.hpp"
#include "weir/fields.hpp"
#include "weir/host.hpp"
#include "weir/task.hpp"

namespace weir {

// How an exchange ended, for finished().
enum class Finish {
    Ok = WEIR_FINISH_OK,            // the whole response went to the client's socket
    Aborted = WEIR_FINISH_ABORTED,  // the client or the upstream broke it off, or the gateway stopped
};

namespace detail {

class PluginBase {
public:
    virtual ~PluginBase() = default;

    // Once for each exchange that entered this plugin, after its response has gone or broken off; last entered first.
    // Override only when wanted: a plugin that does not is not called. Loop thread.
    virtual void finished(Exchange&, Finish) {}

protected:
    PluginBase() = default;
    Host host() const { return Host(); }
};

}  // namespace detail

// A plugin that sees every request. One object serves all loops at once: members that change need their own
// synchronisation. Override onRequest (no return part, one indirect call), or execute (a coroutine), or both: then
// execute runs for the requests for which onRequest answers Answer::Execute. Either may be private; a public one is
// called without a look into the object and its virtual table. This holds for all kinds of plugins.
class Plugin : public detail::PluginBase {
public:
    using Config = NoHandle;

    virtual Answer onRequest(Exchange&) { return Answer::Next; }
    virtual Task<> execute(Exchange&, Next) { return Task<>({}); }
};

// A plugin that sees every request, with settings: the `config` of its data (PluginData under its key), parsed once,
// when the data changes. Without data, or without config in it, they are a default constructed ConfigHandle.
template <class ConfigHandle>
class ConfiguredPlugin : public detail::PluginBase {
public:
    using Config = ConfigHandle;

    virtual Answer onRequest(Exchange&, const ConfigHandle&) { return Answer::Next; }
    virtual Task<> execute(Exchange&, Next, const ConfigHandle&) { return Task<>({}); }

    // As RulePlugin's prepareRule, for the config.
    virtual bool prepareConfig(ConfigHandle&, weir_error*) { return true; }
};

namespace detail {

// What rule plugins have in common. `Handles`: what onRequest and execute get, for as long as the exchange lives.
template <class RuleHandle, class SelectorHandle, class ConfigHandle, class... Handles>
class MatchedPlugin : public PluginBase {
public:
    using Rule = RuleHandle;
    using Selector = SelectorHandle;
    using Config = ConfigHandle;

    virtual Answer onRequest(Exchange&, const Handles&...) { return Answer::Next; }
    virtual Task<> execute(Exchange&, Next, const Handles&...) { return Task<>({}); }

    // Finish a handle after its fields were read: resolve names, build what requests need. Control thread. false: the
    // data is refused, with error_set's text.
    virtual bool prepareRule(RuleHandle&, weir_error*) { return true; }
    virtual bool prepareSelector(SelectorHandle&, weir_error*) { return true; }
    virtual bool prepareConfig(ConfigHandle&, weir_error*) { return true; }
};

}  // namespace detail

// A plugin that sees the requests which match one of its selectors and rules (ShenYu data under its key). The handles
// are parsed once, when the data changes; the default of each is its default constructed value. onRequest and execute
// get those that it has: the rule's, the selector's, the plugin's config, in this order.
template <class RuleHandle, class SelectorHandle = NoHandle, class ConfigHandle = NoHandle>
class RulePlugin
    : public detail::MatchedPlugin<RuleHandle, SelectorHandle, ConfigHandle, RuleHandle, SelectorHandle, ConfigHandle> {
};
template <class RuleHandle, class SelectorHandle>
class RulePlugin<RuleHandle, SelectorHandle, NoHandle>
    : public detail::MatchedPlugin<RuleHandle, SelectorHandle, NoHandle, RuleHandle, SelectorHandle> {};
template <class RuleHandle, class ConfigHandle>
class RulePlugin<RuleHandle, NoHandle, ConfigHandle>
    : public detail::MatchedPlugin<RuleHandle, NoHandle, ConfigHandle, RuleHandle, ConfigHandle> {};
template <class RuleHandle>
class RulePlugin<RuleHandle, NoHandle, NoHandle>
    : public detail::MatchedPlugin<RuleHandle, NoHandle, NoHandle, RuleHandle> {};

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

}  // namespace weir
