#include "fuzz/gateway_chain.hpp"

#include "base/assert.hpp"
#include "config/yaml.hpp"
#include "data/data_file.hpp"

namespace weir::fuzz {

namespace {

std::string configuration(std::uint16_t port) {
    return R"(
plugins:
  - name: contextPath
    selectors:
      - name: http
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules:
          - name: strip
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
            handle: {contextPath: /http}
  - name: divide
    selectors:
      - name: all
        type: 0
        handle: [{upstreamUrl: "127.0.0.1:)" +
           std::to_string(port) + R"("}]
        rules:
          - name: all
            conditions: [{paramType: uri, operator: pathPattern, paramValue: /**}]
            handle: {timeout: 60000}
)";
}

}  // namespace

GatewayChain::GatewayChain(std::uint16_t upstreamPort) : host_(services_) {
    auto staging = module::StagingDirectory::create();
    WEIR_ASSERT(staging);
    staging_ = std::move(*staging);
    load(WEIR_FUZZ_PLUGINS "/load-balancer.so");
    for (const char* id : {"global", "contextPath", "divide", "httpClient", "response"})
        load(std::string(WEIR_FUZZ_PLUGINS "/") + id + ".so");
    load(WEIR_FUZZ_FIXTURES "/steer.so");

    const auto root = config::parseYaml(configuration(upstreamPort), "f.yaml");
    WEIR_ASSERT(root);
    std::vector<std::string> warnings;
    data::DataFiles files(warnings);
    WEIR_ASSERT(files.add(*root, "f.yaml"));
    auto built = gateway::buildChain({plugins_, {}, std::make_shared<const data::DataSet>(files.take()), {}}, 1);
    WEIR_ASSERT(built);
    built_ = std::move(*built);
}

void GatewayChain::load(const std::string& file) {
    auto loaded = module::LoadedModule::load(file, *staging_);
    if (!loaded) std::fprintf(stderr, "%s\n", loaded.error().text().c_str());
    WEIR_ASSERT(loaded);
    const std::shared_ptr<module::LoadedModule> shared = std::move(*loaded);
    for (const module::Provided& provided : shared->manifest().provides) {
        if (provided.interface == module::kLoadBalancerInterface) {
            services_.balancers.add({provided.key, shared->findLoadBalancer(provided.key), &host_, shared});
            continue;
        }
        auto instance = gateway::PluginInstance::create(shared, provided, host_);
        WEIR_ASSERT(instance);
        plugins_.push_back(std::move(*instance));
    }
}

}  // namespace weir::fuzz
