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
