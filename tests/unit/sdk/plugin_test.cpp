#include "weir/plugin.hpp"

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"
#include "weir/module.hpp"

// Which virtual functions a plugin overrides decides what the host calls; the override may be private.

namespace {

using weir::Answer;
using weir::Exchange;
using weir::Finish;
using weir::Next;
using weir::NoHandle;
using weir::Task;

struct PublicRequest : weir::Plugin {
    Answer onRequest(Exchange&) override { return Answer::Next; }
    void finished(Exchange&, Finish) override {}
};
class PrivateRequest : public weir::Plugin {
    Answer onRequest(Exchange&) override { return Answer::Next; }
    void finished(Exchange&, Finish) override {}
};
struct PublicExecute : weir::Plugin {
    Task<> execute(Exchange&, Next next) override { co_await next(); }
};
class PrivateExecute : public weir::Plugin {
    Task<> execute(Exchange&, Next next) override { co_await next(); }
};
class PrivateRuleRequest : public weir::RulePlugin<NoHandle> {
    Answer onRequest(Exchange&, const NoHandle&) override { return Answer::Next; }
};
class PrivateRuleExecute : public weir::RulePlugin<NoHandle> {
    Task<> execute(Exchange&, Next next, const NoHandle&) override { co_await next(); }
};
struct Selector {};
class PrivateSelectorRequest : public weir::RulePlugin<NoHandle, Selector> {
    Answer onRequest(Exchange&, const NoHandle&, const Selector&) override { return Answer::Next; }
    void finished(Exchange&, Finish) override {}
};
class Throwing : public weir::Plugin {
    Answer onRequest(Exchange&) override { throw weir::Error(418, 77, "short and stout"); }
};


struct Limit {
    int limit = 7;
    static constexpr auto fields = weir::fields(weir::field("limit", &Limit::limit).range(1, 100));
};
struct Tag {
    std::string tag = "none";
    static constexpr auto fields = weir::fields(weir::field("tag", &Tag::tag));
};
void show(Exchange& exchange, const std::string& text) { exchange.replyError(200, 0, text); }

class Configured : public weir::ConfiguredPlugin<Limit> {
    bool prepareConfig(Limit& config, weir_error* error) override {
        return config.limit != 13 || weir::refuse(error, "limit", "brings bad luck");
    }
    Answer onRequest(Exchange& exchange, const Limit& config) override {
        show(exchange, std::to_string(config.limit));
        return Answer::Next;
    }
};
class RuleAndConfig : public weir::RulePlugin<Tag, NoHandle, Limit> {
    Answer onRequest(Exchange& exchange, const Tag& rule, const Limit& config) override {
        show(exchange, rule.tag + std::to_string(config.limit));
        return Answer::Next;
    }
};
class AllThree : public weir::RulePlugin<Tag, Tag, Limit> {
    Answer onRequest(Exchange& exchange, const Tag& rule, const Tag& selector, const Limit& config) override {
        show(exchange, rule.tag + selector.tag + std::to_string(config.limit));
        return Answer::Next;
    }
};
// Has a return part for requests of POST only.
class Both : public weir::ConfiguredPlugin<Limit> {
    Answer onRequest(Exchange& exchange, const Limit&) override {
        return exchange.request().method() == "POST" ? Answer::Execute : Answer::Next;
    }
    Task<> execute(Exchange& exchange, Next next, const Limit& config) override {
        co_await next();
        show(exchange, std::to_string(config.limit));
    }
};

// These are called directly.
struct PublicBoth : weir::RulePlugin<Tag, Tag, Limit> {
    Answer onRequest(Exchange& exchange, const Tag& rule, const Tag& selector, const Limit& config) override {
        show(exchange, rule.tag + selector.tag + std::to_string(config.limit) + mine);
        return exchange.request().method() == "POST" ? Answer::Execute : Answer::Next;
    }
    Task<> execute(Exchange& exchange, Next next, const Tag& rule, const Tag& selector, const Limit& config) override {
        co_await next();
        show(exchange, std::to_string(config.limit) + selector.tag + rule.tag + mine);
    }
    std::string mine = "!";
};
struct Inheriting : PublicBoth {
    Inheriting() { mine = "?"; }
};

// One plugin of a class, created, with the handles that it was given.
template <class T>
class Made {
public:
    Made() : table(weir::detail::PluginTable<T>::make("made")) {
        REQUIRE(table.create(&weir::test::fakeHost(), &plugin_, error.raw()) == WEIR_OK);
        match.size = sizeof match;
    }
    ~Made() {
        table.release(plugin_, WEIR_SCOPE_CONFIG, match.config);
        table.release(plugin_, WEIR_SCOPE_SELECTOR, match.selector);
        table.release(plugin_, WEIR_SCOPE_RULE, match.rule);
        table.destroy(plugin_);
    }

    // From JSON text; from nothing when it is null.
    weir_status prepare(weir_scope scope, const char* json) {
        const weir::test::FakeValue value(json ? json : "null");
        void*& handle = scope == WEIR_SCOPE_CONFIG ? match.config
                                                   : scope == WEIR_SCOPE_RULE ? match.rule : match.selector;
        return table.prepare(plugin_, scope, json ? value.raw() : nullptr, &handle, error.raw());
    }
    std::int32_t enter(weir::test::FakeExchange& exchange) {
        return table.enter(plugin_, &exchange, &match, &outcome);
    }
    std::int32_t returned(weir::test::FakeExchange& exchange) {
        const weir_event event{sizeof event, WEIR_EVENT_RETURNED, 0, WEIR_NEXT_OK, {}};
        return table.resume(plugin_, &exchange, outcome.frame, &event, &outcome);
    }

    weir_plugin table;
    weir_match match{};
    weir_outcome outcome{};
    weir::test::FakeError error;

private:
    void* plugin_ = nullptr;
};

template <class T>
constexpr bool onRequestFound() {
    return weir::detail::overridesOnRequest<T, typename weir::detail::BaseOf<T>::type>();
}
template <class T>
constexpr bool executeFound() {
    return weir::detail::overridesExecute<T, typename weir::detail::BaseOf<T>::type>();
}
template <class T>
constexpr bool finishedFound() {
    return weir::detail::overridesFinished<T>();
}

}  // namespace

TEST_CASE("an override is found whether it is public or private") {
    STATIC_REQUIRE(onRequestFound<PublicRequest>());
    STATIC_REQUIRE(onRequestFound<PrivateRequest>());
    STATIC_REQUIRE(onRequestFound<PrivateRuleRequest>());
    STATIC_REQUIRE(onRequestFound<PrivateSelectorRequest>());
    STATIC_REQUIRE(executeFound<PublicExecute>());
    STATIC_REQUIRE(executeFound<PrivateExecute>());
    STATIC_REQUIRE(executeFound<PrivateRuleExecute>());
    STATIC_REQUIRE(finishedFound<PublicRequest>());
    STATIC_REQUIRE(finishedFound<PrivateRequest>());
    STATIC_REQUIRE(finishedFound<PrivateSelectorRequest>());
}

TEST_CASE("a function that is only inherited counts as not overridden") {
    STATIC_REQUIRE_FALSE(executeFound<PublicRequest>());
    STATIC_REQUIRE_FALSE(executeFound<PrivateRequest>());
    STATIC_REQUIRE_FALSE(executeFound<PrivateRuleRequest>());
    STATIC_REQUIRE_FALSE(executeFound<PrivateSelectorRequest>());
    STATIC_REQUIRE_FALSE(onRequestFound<PublicExecute>());
    STATIC_REQUIRE_FALSE(onRequestFound<PrivateExecute>());
    STATIC_REQUIRE_FALSE(onRequestFound<PrivateRuleExecute>());
    STATIC_REQUIRE_FALSE(finishedFound<PublicExecute>());
    STATIC_REQUIRE_FALSE(finishedFound<PrivateRuleExecute>());
}

TEST_CASE("the table says null for a finished that is not wanted") {
    CHECK(weir::detail::PluginTable<PrivateRequest>::make("a").finished != nullptr);
    CHECK(weir::detail::PluginTable<PrivateExecute>::make("b").finished == nullptr);
}

TEST_CASE("an exception of onRequest becomes the failure it names") {
    const weir_plugin table = weir::detail::PluginTable<Throwing>::make("throwing");
    weir::test::FakeError error;
    void* plugin = nullptr;
    REQUIRE(table.create(&weir::test::fakeHost(), &plugin, error.raw()) == WEIR_OK);
    weir::test::FakeExchange exchange;
    weir_outcome outcome{};
    CHECK(table.enter(plugin, &exchange, nullptr, &outcome) == WEIR_FAILED);
    CHECK(exchange.status == 418);
    CHECK(exchange.errorCode == 77);
    CHECK(exchange.body == "short and stout");
    table.destroy(plugin);
}

TEST_CASE("a gateway that knows less than the module's SDK is refused with the reason") {
    const weir_plugin table = weir::detail::PluginTable<Throwing>::make("throwing");
    weir_host older = weir::test::fakeHost();
    older.size = sizeof older - sizeof older.offload;
    weir::test::FakeError error;
    void* plugin = nullptr;
    CHECK(table.create(&older, &plugin, error.raw()) == WEIR_INVALID);
    CHECK(plugin == nullptr);
    CHECK(error.text == "this module needs a newer gateway: it was built with a newer SDK");
}

TEST_CASE("a plugin gets its config, and the default one where there is none") {
    Made<Configured> plugin;
    weir::test::FakeExchange exchange;
    REQUIRE(plugin.prepare(WEIR_SCOPE_CONFIG, R"({"limit": 20})") == WEIR_OK);
    CHECK(plugin.enter(exchange) == WEIR_FORWARD);
    CHECK(exchange.body == "20");

    Made<Configured> bare;
    REQUIRE(bare.prepare(WEIR_SCOPE_CONFIG, nullptr) == WEIR_OK);
    CHECK(bare.enter(exchange) == WEIR_FORWARD);
    CHECK(exchange.body == "7");
}

TEST_CASE("a config that its fields or its plugin do not take is refused with its place") {
    struct Row { const char* config; const char* message; };
    const Row rows[] = {
        {R"({"limit": 0})", "limit: expected a whole number from 1 to 100, found '0'"},
        {R"({"limit": 13})", "limit: brings bad luck"},
        {R"([1])", "expected a map, found a list"},
    };
    for (const Row& row : rows) {
        Made<Configured> plugin;
        CHECK(plugin.prepare(WEIR_SCOPE_CONFIG, row.config) == WEIR_INVALID);
        CHECK(plugin.match.config == nullptr);
        CHECK(plugin.error.whole() == row.message);
    }
}

TEST_CASE("a rule plugin gets the handles it has and its config, in this order") {
    weir::test::FakeExchange exchange;
    Made<RuleAndConfig> two;
    REQUIRE(two.prepare(WEIR_SCOPE_RULE, R"({"tag": "rule"})") == WEIR_OK);
    REQUIRE(two.prepare(WEIR_SCOPE_SELECTOR, R"({"tag": "selector"})") == WEIR_OK);
    REQUIRE(two.prepare(WEIR_SCOPE_CONFIG, R"({"limit": 3})") == WEIR_OK);
    CHECK(two.match.selector == nullptr);
    CHECK(two.enter(exchange) == WEIR_FORWARD);
    CHECK(exchange.body == "rule3");

    Made<AllThree> all;
    REQUIRE(all.prepare(WEIR_SCOPE_RULE, R"({"tag": "rule"})") == WEIR_OK);
    REQUIRE(all.prepare(WEIR_SCOPE_SELECTOR, R"({"tag": "selector"})") == WEIR_OK);
    REQUIRE(all.prepare(WEIR_SCOPE_CONFIG, R"({})") == WEIR_OK);
    CHECK(all.enter(exchange) == WEIR_FORWARD);
    CHECK(exchange.body == "ruleselector7");
}

TEST_CASE("a plugin with both parts has a frame only for the requests that want one") {
    Made<Both> plugin;
    REQUIRE(plugin.prepare(WEIR_SCOPE_CONFIG, R"({"limit": 3})") == WEIR_OK);
    weir::test::FakeExchange exchange;
    CHECK(plugin.enter(exchange) == WEIR_FORWARD);
    CHECK(plugin.outcome.frame == nullptr);
    exchange.method = "POST";
    CHECK(plugin.enter(exchange) == WEIR_FORWARD);
    REQUIRE(plugin.outcome.frame != nullptr);
    CHECK(exchange.body.empty());
    plugin.returned(exchange);
    CHECK(exchange.body == "3");
}

TEST_CASE("public overrides get what private ones do, also where they are inherited") {
    const auto bodies = []<class T>(Made<T> plugin) {
        REQUIRE(plugin.prepare(WEIR_SCOPE_RULE, R"({"tag": "rule"})") == WEIR_OK);
        REQUIRE(plugin.prepare(WEIR_SCOPE_SELECTOR, R"({"tag": "selector"})") == WEIR_OK);
        REQUIRE(plugin.prepare(WEIR_SCOPE_CONFIG, R"({"limit": 3})") == WEIR_OK);
        weir::test::FakeExchange exchange;
        exchange.method = "POST";
        CHECK(plugin.enter(exchange) == WEIR_FORWARD);
        REQUIRE(plugin.outcome.frame != nullptr);
        const std::string forward = exchange.body;
        plugin.returned(exchange);
        return forward + " " + exchange.body;
    };
    CHECK(bodies(Made<PublicBoth>()) == "ruleselector3! 3selectorrule!");
    CHECK(bodies(Made<Inheriting>()) == "ruleselector3? 3selectorrule?");
}
