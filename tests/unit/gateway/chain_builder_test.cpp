#include "gateway/chain_builder.hpp"

#include <algorithm>

#include "chain/host_table.hpp"
#include "config/yaml.hpp"
#include "data/data_file.hpp"
#include "data/record_writer.hpp"
#include "support/catch.hpp"
#include "unit/match/fake_subject.hpp"

using namespace weir;

namespace {

// The core modules as they are shipped, and the twins, without a gateway around them.
class Modules {
public:
    Modules() : host_(services_) {
        auto staging = module::StagingDirectory::create();
        REQUIRE(staging);
        staging_ = std::move(*staging);
        load(WEIR_TEST_PLUGINS "/load-balancer.so");
        for (const char* id : {"response", "divide", "contextPath", "global", "httpClient"})
            load(std::string(WEIR_TEST_PLUGINS "/") + id + ".so");
        load(WEIR_TEST_FIXTURES "/twins.so");
    }

    const std::vector<std::shared_ptr<gateway::PluginInstance>>& plugins() const { return plugins_; }

private:
    void load(const std::string& file) {
        auto loaded = module::LoadedModule::load(file, *staging_);
        INFO(file);
        REQUIRE(loaded);
        const std::shared_ptr<module::LoadedModule> shared = std::move(*loaded);
        for (const module::Provided& provided : shared->manifest().provides) {
            if (provided.interface == module::kLoadBalancerInterface) {
                services_.balancers.add({provided.key, shared->findLoadBalancer(provided.key), &host_, shared});
                continue;
            }
            auto instance = gateway::PluginInstance::create(shared, provided, host_);
            REQUIRE(instance);
            plugins_.push_back(std::move(*instance));
        }
    }

    std::unique_ptr<module::StagingDirectory> staging_;
    chain::ControlServices services_;
    chain::HostTable host_;
    std::vector<std::shared_ptr<gateway::PluginInstance>> plugins_;
};

data::DataSet dataOf(std::string_view yaml) {
    const auto root = config::parseYaml(yaml, "f.yaml");
    REQUIRE(root);
    std::vector<std::string> warnings;
    data::DataFiles files(warnings);
    REQUIRE(files.add(*root, "f.yaml"));
    return files.take();
}

base::Result<gateway::BuiltChain> build(const Modules& modules, std::string_view yaml) {
    return gateway::buildChain({modules.plugins(), {}, std::make_shared<const data::DataSet>(dataOf(yaml)), {}}, 1);
}

const match::PluginMatcher& matcherOf(const gateway::BuiltChain& built, std::string_view key) {
    const auto& chain = built.snapshot->chain;
    const auto found = std::ranges::find(chain, key, &chain::ChainEntry::key);
    REQUIRE(found != chain.end());
    return *found->matcher;
}

std::string error(std::string_view yaml) {
    const Modules modules;
    const auto built = build(modules, yaml);
    return built ? "taken" : built.error().text();
}

std::string keys(const gateway::BuiltChain& built) {
    std::string out;
    for (const chain::ChainEntry& entry : built.snapshot->chain) out += (out.empty() ? "" : " ") + entry.key;
    return out;
}

}  // namespace

TEST_CASE("a handle's mistake is named with its place in the file") {
    struct Row {
        const char* handles;  // of the selector and its rule, from line 5 on
        const char* error;
    };
    const Row rows[] = {
        {"        rules: [{name: r, handle: {retry: many}}]\n",
         "f.yaml:5:43: plugin 'divide', selector 's', rule 'r', handle: retry: expected a whole number from 0 to "
         "100, found 'many'"},
        {"        handle:\n"
         "          - {upstreamUrl: \"127.0.0.1:1\"}\n"
         "          - {upstreamUrl: \"127.0.0.1:2\", weight: -1}\n",
         "f.yaml:7:50: plugin 'divide', selector 's', handle: [1].weight: expected a whole number from 0 to "
         "2147483647, found '-1'"},
        {"        handle:\n"
         "          - {upstreamUrl: \"127.0.0.1:1\"}\n"
         "          - {upstreamUrl: \"b\"}\n",
         "f.yaml:7:27: plugin 'divide', selector 's', handle: [1].upstreamUrl: expected host:port, but 'b' has no "
         "port"},
        {"        handle:\n"
         "          - {weight: 1}\n",  // what is missing has the place of what it is missing from
         "f.yaml:6:13: plugin 'divide', selector 's', handle: [0].upstreamUrl: is required"},
        {"        handle: {upstreamUrl: \"127.0.0.1:1\"}\n",
         "f.yaml:5:17: plugin 'divide', selector 's', handle: expected a list, found a map"},
        // A JSON text's place is the text's.
        {"        handle: '[{\"upstreamUrl\":\"127.0.0.1:1\",\"weight\":\"x\"}]'\n",
         "f.yaml:5:17: plugin 'divide', selector 's', handle: [0].weight: expected a whole number from 0 to "
         "2147483647, found 'x'"},
        {"        rules:\n"
         "          - name: r\n"
         "            handle: {loadBalance: roundRobbin}\n",
         "f.yaml:7:21: plugin 'divide', selector 's', rule 'r', handle: no module provides the load balancer "
         "'roundRobbin'; did you mean 'roundRobin'?"},
        {"        rules:\n"
         "          - name: r\n"
         "            handle: {loadBalance: astrology}\n",
         "f.yaml:7:21: plugin 'divide', selector 's', rule 'r', handle: no module provides the load balancer "
         "'astrology'; there is random, roundRobin, hash, leastActive, p2c, shortestResponse"},
    };
    for (const Row& row : rows) {
        CHECK(error(std::string("plugins:\n  - name: divide\n    selectors:\n      - name: s\n") + row.handles) ==
              row.error);
    }
}

TEST_CASE("a condition's mistake is named with its place in the file") {
    CHECK_THAT(error("plugins:\n"
                     "  - name: divide\n"
                     "    selectors:\n"
                     "      - name: s\n"
                     "        conditions:\n"
                     "          - {paramType: uri, operator: pathPattern, paramValue: /a/**}\n"
                     "          - {paramType: uri, operator: pathPattern, paramValue: /a/**/b}\n"),
               Catch::StartsWith("f.yaml:7:13: plugin 'divide', selector 's': "));
    CHECK_THAT(error("plugins:\n"
                     "  - name: divide\n"
                     "    selectors:\n"
                     "      - name: s\n"
                     "        rules:\n"
                     "          - name: r\n"
                     "            conditions: [{paramType: uri, operator: regex, paramValue: '(?=a)'}]\n"),
               Catch::StartsWith("f.yaml:7:26: plugin 'divide', selector 's', rule 'r': "));
}

TEST_CASE("a mistake counts even where it is switched off") {
    CHECK_THAT(error("plugins:\n"
                     "  - name: divide\n"
                     "    enabled: false\n"
                     "    selectors:\n"
                     "      - {name: s, enabled: false, rules: [{name: r, enabled: false, handle: {retry: x}}]}\n"),
               Catch::StartsWith("f.yaml:5:85: "));
}

TEST_CASE("keys that a handle does not know and data without a module are warnings with a place") {
    const Modules modules;
    const auto built = build(modules,
                             "plugins:\n"
                             "  - name: divide\n"
                             "    selectors:\n"
                             "      - name: s\n"
                             "        handle: [{upstreamUrl: \"127.0.0.1:1\", colour: red}]\n"
                             "        rules: [{name: r, handle: {retries: 3}}]\n"
                             "  - name: sing\n");
    REQUIRE(built);
    CHECK(built->warnings ==
          std::vector<std::string>{
              "f.yaml:5:55: plugin 'divide', selector 's', handle: the key '[0].colour' means nothing here",
              "f.yaml:6:45: plugin 'divide', selector 's', rule 'r', handle: the key 'retries' means nothing here",
              "f.yaml:7:5: plugin 'sing' is provided by no module; its data waits",
          });
    CHECK(keys(*built).find("sing") == std::string::npos);
}

TEST_CASE("plain plugins are in the chain without data, rule plugins with it, and none that is disabled") {
    const Modules modules;
    struct Row {
        const char* yaml;
        const char* keys;
    };
    const Row rows[] = {
        {"plugins: []", "global twinA twinB httpClient response"},
        {"plugins: [{name: divide}]", "global divide twinA twinB httpClient response"},
        {"plugins: [{name: divide, enabled: false}, {name: twinA, enabled: false}]",
         "global twinB httpClient response"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        const auto built = build(modules, row.yaml);
        REQUIRE(built);
        CHECK(keys(*built) == row.keys);
    }
}

TEST_CASE("the chain is sorted by the data's sort, else the code's order, then by that order, then by key") {
    const Modules modules;
    struct Row {
        const char* yaml;
        const char* keys;
    };
    const Row rows[] = {
        {"plugins: [{name: divide}, {name: contextPath}]",
         "global contextPath divide twinA twinB httpClient response"},
        {"plugins: [{name: divide}, {name: response, sort: -500}]",
         "response global divide twinA twinB httpClient"},
        {"plugins: [{name: divide, sort: 205}]", "global divide twinA twinB httpClient response"},
        {"plugins: [{name: httpClient, sort: 7}, {name: twinB, sort: 7}, {name: twinA, sort: 7}, "
         "{name: divide, sort: 7}]",
         "global divide twinA twinB httpClient response"},
    };
    for (const Row& row : rows) {
        INFO(row.yaml);
        const auto built = build(modules, row.yaml);
        REQUIRE(built);
        CHECK(keys(*built) == row.keys);
    }
}

TEST_CASE("selectors that are not continued share one default rule, the others have none") {
    const Modules modules;
    const auto built = build(modules, R"(
plugins:
  - name: divide
    selectors:
      - {name: a, continued: false, conditions: [{paramType: uri, operator: "=", paramValue: /a}]}
      - {name: b, continued: false, conditions: [{paramType: uri, operator: "=", paramValue: /b}]}
      - {name: c, conditions: [{paramType: uri, operator: "=", paramValue: /c}], rules: [{name: r, conditions: [
          {paramType: uri, operator: "=", paramValue: /c}]}]}
)");
    REQUIRE(built);
    const auto choose = [&](const char* path) {
        match::FakeSubject subject;
        subject.path = path;
        return matcherOf(*built, "divide").choose(subject);
    };
    CHECK(choose("/a").outcome == match::Choice::Matched);
    CHECK(choose("/a").rule == nullptr);
    CHECK(choose("/a").selector->defaultRule != nullptr);
    CHECK(choose("/a").selector->defaultRule == choose("/b").selector->defaultRule);
    CHECK(choose("/c").selector->defaultRule == nullptr);
    REQUIRE(choose("/c").rule != nullptr);
    CHECK(choose("/c").rule->handle != nullptr);
}

namespace {

// Three selectors with two rules each; what differs between the rows of a test is one word.
std::string sixRules(const std::string& b2, const std::string& selectorC = "/c") {
    const auto rule = [](const std::string& name, const std::string& value) {
        return "          - {name: " + name + ", handle: {retry: 3}, conditions: [{paramType: uri, operator: startsWith, " +
               "paramValue: " + value + "}]}\n";
    };
    std::string yaml = "plugins:\n  - name: divide\n    selectors:\n";
    for (const std::string name : {"a", "b", "c"}) {
        yaml += "      - name: " + name + "\n        handle: [{upstreamUrl: \"127.0.0.1:1\"}]\n" +
                "        conditions: [{paramType: uri, operator: startsWith, paramValue: " +
                (name == "c" ? selectorC : "/" + name) + "}]\n        rules:\n" + rule("one", "/" + name + "/1") +
                rule("two", name == "b" ? b2 : "/" + name + "/2");
    }
    return yaml;
}

// The data with what is equal in `before` taken from there, as a store that a call has edited has it.
data::DataSet edited(const data::DataSet& before, data::DataSet now) {
    const auto share = [](const auto& from, auto& to) {
        for (auto& record : to) {
            for (const auto& old : from) {
                if (base::toJson(data::toValue(*old)) == base::toJson(data::toValue(*record))) record = old;
            }
        }
    };
    share(before.selectors, now.selectors);
    share(before.rules, now.rules);
    return now;
}

}  // namespace

TEST_CASE("a build shares with the one before what was made of the same records, and all of it if nothing changed") {
    const Modules modules;
    const auto first = std::make_shared<const data::DataSet>(dataOf(sixRules("/b/2")));
    const auto before = gateway::buildChain({modules.plugins(), {}, first, {}}, 1);
    REQUIRE(before);
    const match::PluginMatcher& old = matcherOf(*before, "divide");

    const auto same = gateway::buildChain(before->input, 2, &*before);
    REQUIRE(same);
    CHECK(&matcherOf(*same, "divide") == &old);

    const auto next = std::make_shared<const data::DataSet>(edited(*first, dataOf(sixRules("/b/other"))));
    const auto changed = gateway::buildChain({modules.plugins(), {}, next, {}}, 2, &*before);
    REQUIRE(changed);
    const match::PluginMatcher& now = matcherOf(*changed, "divide");
    REQUIRE(now.entries().size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string& name = now.entries()[i].selector->selector.name;
        CHECK(now.entries()[i].selector == old.entries()[i].selector);
        CHECK((now.entries()[i].rules == old.entries()[i].rules) == (name != "b"));
    }
    const auto rules = [](const match::PluginMatcher& matcher) { return matcher.entries()[1].rules->rules(); };
    CHECK(rules(now)[0] == rules(old)[0]);
    CHECK(rules(now)[1] != rules(old)[1]);
    CHECK(rules(now)[1]->rule.handle == rules(old)[1]->rule.handle);  // its text is the same

    const auto moved = std::make_shared<const data::DataSet>(edited(*next, dataOf(sixRules("/b/other", "/d"))));
    const auto last = gateway::buildChain({modules.plugins(), {}, moved, {}}, 3, &*changed);
    REQUIRE(last);
    CHECK(matcherOf(*last, "divide").entries()[2].selector != now.entries()[2].selector);
    CHECK(matcherOf(*last, "divide").entries()[2].selector->handle == now.entries()[2].selector->handle);
    CHECK(matcherOf(*last, "divide").entries()[2].rules == now.entries()[2].rules);
}

TEST_CASE("an operator that nobody provides makes its rule wait; a provider brings it to life, its end back to waiting") {
    class Long final : public match::Operator {
        struct Test final : match::ValueTest {
            bool passes(std::string_view value) const noexcept override { return value.size() > 8; }
        };
        base::Result<std::unique_ptr<const match::ValueTest>> bind(const match::ConditionSpec&) const override {
            return std::unique_ptr<const match::ValueTest>(std::make_unique<Test>());
        }
    };
    const Modules modules;
    const auto data = std::make_shared<const data::DataSet>(dataOf(R"(
plugins:
  - name: divide
    selectors:
      - name: s
        conditions: [{paramType: uri, operator: startsWith, paramValue: /}]
        rules:
          - {name: r, conditions: [{paramType: uri, operator: longerThan, paramValue: 8}]}
)"));
    match::Providers providers;
    providers.operators["longerThan"] = std::make_shared<Long>();
    const auto chosen = [](const gateway::BuiltChain& built) {
        match::FakeSubject subject;
        subject.path = "/a/long/path";
        return matcherOf(built, "divide").choose(subject).outcome;
    };
    const auto waits = gateway::buildChain({modules.plugins(), {}, data, {}}, 1);
    REQUIRE(waits);
    CHECK(chosen(*waits) == match::Choice::NoRule);
    REQUIRE(waits->waiting->rules.size() == 1);
    CHECK_THAT(waits->waiting->rules.at({"divide", "divide/s/r"}), Catch::Contains("longerThan"));
    REQUIRE(waits->warnings.size() == 1);
    CHECK_THAT(waits->warnings[0], Catch::StartsWith("f.yaml:8:13: plugin 'divide', selector 's', rule 'r': "));

    const auto alive = gateway::buildChain({modules.plugins(), providers, data, {}}, 2, &*waits);
    REQUIRE(alive);
    CHECK(chosen(*alive) == match::Choice::Matched);
    CHECK(alive->waiting->rules.empty());

    const auto again = gateway::buildChain({modules.plugins(), {}, data, {}}, 3, &*alive);
    REQUIRE(again);
    CHECK(chosen(*again) == match::Choice::NoRule);
    CHECK(again->waiting->rules.size() == 1);
    const auto still = gateway::buildChain({modules.plugins(), {}, data, {}}, 4, &*again);
    REQUIRE(still);
    CHECK(still->waiting->rules.size() == 1);
}
