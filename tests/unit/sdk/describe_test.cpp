#include "base/value.hpp"
#include "support/catch.hpp"
#include "weir/module.hpp"

namespace {

struct Server {
    std::string url;
    int weight = 50;
    static constexpr auto fields = weir::fields(weir::field("url", &Server::url).required(),
                                                weir::field("weight", &Server::weight).range(0, 100));
};
struct Pool {
    std::vector<Server> servers;
    static constexpr auto items = &Pool::servers;
};
struct Limit {
    bool on = true;
    std::string key = "say \"ip\"";
    std::string mode = "soft";
    std::chrono::milliseconds wait{20};
    std::vector<int> codes;
    Server inner;
    weir::detail::TextMap labels;
    double share = 0.25;
    static constexpr auto fields = weir::fields(
        weir::field("on", &Limit::on), weir::field("key", &Limit::key),
        weir::field("mode", &Limit::mode).oneOf("soft", "hard"), weir::field("wait", &Limit::wait).range(1, 1000),
        weir::field("codes", &Limit::codes), weir::field("inner", &Limit::inner),
        weir::field("labels", &Limit::labels), weir::field("share", &Limit::share).range(0.125, 1));
};

struct Plain : weir::Plugin {
    weir::Answer onRequest(weir::Exchange&) override { return weir::Answer::Next; }
};
struct Proxy : weir::RulePlugin<Limit, Pool, Server> {
    weir::Answer onRequest(weir::Exchange&, const Limit&, const Pool&, const Server&) override {
        return weir::Answer::Next;
    }
};
struct Configured : weir::ConfiguredPlugin<Server> {
    weir::Answer onRequest(weir::Exchange&, const Server&) override { return weir::Answer::Next; }
};
struct Balancer : weir::LoadBalancer {
    explicit Balancer(const std::vector<weir::Upstream>&) {}
    int pick(const weir::PickRequest&) noexcept override { return 0; }
};

struct Handler : weir::PluginDataHandler {};
struct Tenant : weir::ParameterData {
    explicit Tenant(const std::string&) {}
    std::string_view read(weir::Exchange&) noexcept override { return {}; }
};
struct Judge : weir::PredicateJudge {
    explicit Judge(const weir::Condition&) {}
    bool judge(std::string_view) const noexcept override { return true; }
};
struct Strategy : weir::MatchStrategy {
    bool match(const weir::Conditions&) const noexcept override { return true; }
};

}  // namespace

WEIR_MODULE(weir::plugin<Plain>("plain", {.order = -1}),
            weir::plugin<Proxy>("proxy", {.order = 200, .rpcTypes = {"http", "ai"},
                                          .unmatched = weir::Unmatched::Error}),
            weir::loadBalancer<Balancer>("first", {.weighted = true}), weir::pluginDataHandler<Handler>("divide"),
            weir::matchStrategy<Strategy>("majority"), weir::pluginDataHandler<Handler>("proxy"),
            weir::predicateJudge<Judge>("ipRange", {.blanks = true}), weir::predicateJudge<Judge>("odd"),
            weir::parameterData<Tenant>("tenant"), weir::plugin<Configured>("configured"))

TEST_CASE("a module describes what it provides as JSON") {
    const auto* describe = static_cast<const weir_describe*>(weir_module_v1.find(WEIR_INTERFACE_DESCRIBE));
    REQUIRE(describe);
    std::string text;
    describe->provides(
        [](void* out, const char* piece, std::size_t size) { static_cast<std::string*>(out)->append(piece, size); },
        &text);
    const auto parsed = weir::base::parseJson(text);
    REQUIRE(parsed.ok());
    const auto& all = parsed.value().items();
    REQUIRE(all.size() == 10);

    CHECK(toJson(all[0]) == R"({"interface":"Plugin","key":"plain","order":-1,"rpcTypes":[],"matching":"none",)"
                            R"("unmatched":"pass","fields":{}})");
    CHECK(all[1].find("key")->text() == "proxy");
    CHECK(all[1].find("matching")->text() == "rule");
    CHECK(all[1].find("unmatched")->text() == "error");
    CHECK(toJson(*all[1].find("rpcTypes")) == R"(["http","ai"])");
    CHECK(toJson(*all[1].find("fields")->find("selector")) ==
          R"([{"name":"url","type":"text","default":"","required":true},)"
          R"({"name":"weight","type":"integer","default":"50","min":0,"max":100}])");
    CHECK(toJson(*all[1].find("fields")->find("rule")) ==
          R"([{"name":"on","type":"boolean","default":"true"},)"
          R"({"name":"key","type":"text","default":"say \"ip\""},)"
          R"({"name":"mode","type":"text","default":"soft","oneOf":["soft","hard"]},)"
          R"({"name":"wait","type":"milliseconds","default":"20","min":1,"max":1000},)"
          R"({"name":"codes","type":"list","items":{"type":"integer","default":"0"}},)"
          R"({"name":"inner","type":"object","fields":[{"name":"url","type":"text","default":"","required":true},)"
          R"({"name":"weight","type":"integer","default":"50","min":0,"max":100}]},)"
          R"({"name":"labels","type":"map"},)"
          R"({"name":"share","type":"number","default":"0.25","min":0.125,"max":1}])");
    CHECK(toJson(*all[1].find("fields")->find("config")) == toJson(*all[1].find("fields")->find("selector")));
    CHECK(toJson(*all[2].find("fields")) ==
          R"({"config":[{"name":"url","type":"text","default":"","required":true},)"
          R"({"name":"weight","type":"integer","default":"50","min":0,"max":100}]})");
    CHECK(toJson(all[3]) == R"({"interface":"LoadBalancer","key":"first","weighted":true,"sticky":false})");
    CHECK(toJson(all[4]) == R"({"interface":"PluginDataHandler","key":"divide"})");
    CHECK(toJson(all[5]) == R"({"interface":"PluginDataHandler","key":"proxy"})");
    CHECK(toJson(all[6]) == R"({"interface":"ParameterData","key":"tenant"})");
    CHECK(toJson(all[7]) == R"({"interface":"PredicateJudge","key":"ipRange"})");
    CHECK(toJson(all[8]) == R"({"interface":"PredicateJudge","key":"odd"})");
    CHECK(toJson(all[9]) == R"({"interface":"MatchStrategy","key":"majority"})");
}

TEST_CASE("a module answers the interfaces it provides and null for every other") {
    const auto* plugins = static_cast<const weir_plugin_list*>(weir_module_v1.find(WEIR_INTERFACE_PLUGIN));
    REQUIRE(plugins);
    CHECK(plugins->count == 3);
    CHECK(weir::detail::view(plugins->items[1]->key) == "proxy");
    const auto* balancers =
        static_cast<const weir_load_balancer_list*>(weir_module_v1.find(WEIR_INTERFACE_LOAD_BALANCER));
    REQUIRE(balancers);
    CHECK(balancers->count == 1);
    const auto* handlers = static_cast<const weir_plugin_data_handler_list*>(
        weir_module_v1.find(WEIR_INTERFACE_PLUGIN_DATA_HANDLER));
    REQUIRE(handlers);
    CHECK(handlers->count == 2);
    CHECK(weir::detail::view(handlers->items[0]->key) == "divide");
    CHECK(weir::detail::view(handlers->items[1]->key) == "proxy");
    const auto* parameters =
        static_cast<const weir_parameter_data_list*>(weir_module_v1.find(WEIR_INTERFACE_PARAMETER_DATA));
    REQUIRE(parameters);
    CHECK(parameters->count == 1);
    const auto* judges =
        static_cast<const weir_predicate_judge_list*>(weir_module_v1.find(WEIR_INTERFACE_PREDICATE_JUDGE));
    REQUIRE(judges);
    CHECK(judges->count == 2);
    CHECK(judges->items[0]->blanks == 1);
    CHECK(weir::detail::view(judges->items[1]->key) == "odd");
    const auto* strategies =
        static_cast<const weir_match_strategy_list*>(weir_module_v1.find(WEIR_INTERFACE_MATCH_STRATEGY));
    REQUIRE(strategies);
    CHECK(strategies->count == 1);
    CHECK(weir_module_v1.find("weir.plugin/2") == nullptr);
    CHECK(weir_module_v1.find("") == nullptr);
}
