#include "gateway/chain_builder.hpp"

#include <algorithm>

#include "chain/host_table.hpp"
#include "config/yaml.hpp"
#include "data/data_file.hpp"
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

base::Result<gateway::BuiltChain> build(const Modules& modules, std::string_view yaml) {
    const auto root = config::parseYaml(yaml, "f.yaml");
    REQUIRE(root);
    std::vector<std::string> warnings;
    data::DataFiles files(warnings);
    REQUIRE(files.add(*root, "f.yaml"));
    return gateway::buildChain(modules.plugins(), files.take(), 1);
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
         "'astrology'; there is random, roundRobin, hash"},
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
                     "          - {paramType: uri, operator: pathPatern, paramValue: /a/**}\n"),
               Catch::StartsWith("f.yaml:7:13: plugin 'divide', selector 's': ") && Catch::Contains("pathPattern"));
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
    const auto& chain = built->snapshot->chain;
    const auto divide =
        std::find_if(chain.begin(), chain.end(), [](const auto& entry) { return entry.key == "divide"; });
    REQUIRE(divide != chain.end());
    const auto choose = [&](const char* path) {
        match::FakeSubject subject;
        subject.path = path;
        return divide->matcher->choose(subject);
    };
    CHECK(choose("/a").outcome == match::Choice::Matched);
    CHECK(choose("/a").rule == nullptr);
    CHECK(choose("/a").selector->defaultRule != nullptr);
    CHECK(choose("/a").selector->defaultRule == choose("/b").selector->defaultRule);
    CHECK(choose("/c").selector->defaultRule == nullptr);
    REQUIRE(choose("/c").rule != nullptr);
    CHECK(choose("/c").rule->handle != nullptr);
}
