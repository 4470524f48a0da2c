#include "stress/soak/soak_changes.hpp"

#include <stdexcept>

#include "support/eventually.hpp"

namespace weir::soak {

using functional::Entry;
using functional::quoted;
using functional::uri;
using support::HttpMessage;

namespace {

constexpr const char* kPluginCall = "/shenyu/plugin/saveOrUpdate";
constexpr const char* kDeleteFlickRule =
    "/shenyu/plugin/rule/delete?pluginName=divide&selectorId=flick&id=flick-rule";
constexpr std::chrono::milliseconds kPause{3};  // between two changes, so that requests meet one that lasts

std::string pattern(Route route) {
    return std::string("/http/") + kRouteNames[static_cast<std::size_t>(route)] + "/**";
}

std::string plugin(const std::string& name, bool enabled, const std::string& config = "") {
    return R"({"id":)" + quoted(name) + R"(,"name":)" + quoted(name) + R"(,"enabled":)" + (enabled ? "true" : "false") +
           R"(,"config":)" + quoted(config) + "}";
}

void mustBe200(const HttpMessage& answer, const std::string& what) {
    if (answer.status() != 200) throw std::runtime_error(what + "\n" + answer.raw);
}

template <class Servers>
std::string list(const Upstreams& upstreams, const Servers& servers) {
    std::string out;
    for (const int each : servers)
        out += (out.empty() ? "" : ",") + (R"({"upstreamUrl":)" + quoted(upstreams.address(each)) + R"(,"weight":50})");
    return "[" + out + "]";
}

struct RouteData {
    Route route;
    std::vector<int> servers;
    const char* rule;
};

const std::vector<RouteData>& routes() {
    constexpr const char* kPlain = R"({"loadBalance":"roundRobin","retry":3,"timeout":20000})";
    static const std::vector<RouteData> all{
        {Route::Good, {0, 1, 2}, kPlain},
        {Route::Fault, {Upstreams::kFault}, R"({"loadBalance":"roundRobin","retry":0,"timeout":20000})"},
        {Route::Hang, {Upstreams::kHang}, R"({"loadBalance":"roundRobin","retry":0,"timeout":100})"},
        {Route::Dying, {5, 6}, R"({"loadBalance":"random","retry":1,"timeout":200})"},
        {Route::Flee, {0, 1, 2, 5, 6, 7},
         R"({"loadBalance":"p2c","retry":5,"retryStrategy":"failover","timeout":5000})"},
        {Route::Flick, {0, 1}, kPlain},
        {Route::Meta, {1, 2}, kPlain},
    };
    return all;
}

Entry divideEntry(const RouteData& data) {
    return {kRouteNames[static_cast<std::size_t>(data.route)], {uri("pathPattern", pattern(data.route))}};
}

}  // namespace

std::string configuration() {
    return functional::withLocalKey(R"(weir:
  server: {address: 127.0.0.1, port: 9195, threads: 2, trustRequestId: true}
  upstream: {ejection: {failures: 5, base: 100ms, max: 500ms}, retryBudget: {percent: 100, minConcurrent: 1000}}
plugins:
  - name: contextPath
    selectors:
      - name: http
        conditions: [{paramType: uri, operator: pathPattern, paramValue: /http/**}]
        rules: [{name: strip, handle: {contextPath: /http}}]
  - name: rewrite
  - name: request
  - name: divide
  - name: modifyResponse
)");
}

Changes::Changes(const support::GatewayProcess& gateway, const Upstreams& upstreams)
    : caller_(gateway), upstreams_(upstreams) {
    for (const RouteData& each : routes()) {
        Entry entry = divideEntry(each);
        entry.handle = list(upstreams, each.servers);
        caller_.selector(entry.selector());
        entry.handle = each.rule;
        entry.id += "-rule";
        caller_.rule(entry.rule(divideEntry(each).id));
    }
    for (const char* name : {"request", "modifyResponse", "rewrite"}) {
        caller_.selector(Entry{name, {uri("pathPattern", "/http/**")}, "", name}.selector());
    }
    const std::string handle = R"({"regex":"/good/","replace":"/good/rewritten/"})";
    caller_.rule(Entry{"rewrite-rule", {uri("pathPattern", pattern(Route::Good))}, handle, "rewrite"}.rule("rewrite"));
    nextNumber();
}

void Changes::start(std::uint64_t seed, Findings& findings) {
    stopping_ = false;
    thread_ = std::thread([this, seed, &findings] { run(seed, findings); });
}

void Changes::stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
}

void Changes::run(std::uint64_t seed, Findings& findings) {
    Random random(seed);
    try {
        while (!stopping_) {
            step(random);
            std::this_thread::sleep_for(kPause);
        }
        goodUpstreams(0, 3);
        flickRule();
        metadata(false);
        cross(false);
        rewrite(true);
        stranger(false);
    } catch (const std::exception& error) {
        findings.add(std::string("a change failed: ") + error.what());
    }
}

void Changes::step(Random& random) {
    switch (random.below(7)) {
        case 0: nextNumber(); break;
        case 1: goodUpstreams(random.below(3), random.between(1, 3)); break;
        case 2:
            mustBe200(caller_.get(kDeleteFlickRule), kDeleteFlickRule);
            std::this_thread::sleep_for(kPause);
            flickRule();
            break;
        case 3: metadata(random.perMille(500)); break;
        case 4: cross(random.perMille(500)); break;
        case 5: rewrite(random.perMille(500)); break;
        default: stranger(random.perMille(500)); break;
    }
    ++made_;
}

void Changes::nextNumber() {
    const std::uint64_t number = count_.begun + 1;
    count_.begun = number;
    writeNumber("request", number);
    writeNumber("modifyResponse", number);
    count_.done = number;
}

void Changes::writeNumber(const char* name, std::uint64_t number) {
    const std::string text = quoted(std::to_string(number));
    const bool in = name == std::string("request");
    const std::string handle = in ? R"({"header":{"setHeaders":{"X-Data-In":)" + text + "}}}"
                                  : R"({"setHeaders":{"X-Data-Out":)" + text + "}}";
    caller_.rule(Entry{std::string(name) + "-rule", {uri("pathPattern", "/http/**")}, handle, name}.rule(name));
}

void Changes::goodUpstreams(std::uint32_t from, std::uint32_t howMany) {
    std::vector<int> servers;
    for (std::uint32_t i = 0; i < howMany; ++i) servers.push_back(Upstreams::kGood[(from + i) % 3]);
    Entry entry = divideEntry(routes()[static_cast<std::size_t>(Route::Good)]);
    entry.handle = list(upstreams_, servers);
    caller_.selector(entry.selector());
}

void Changes::flickRule() {
    const RouteData& data = routes()[static_cast<std::size_t>(Route::Flick)];
    Entry entry = divideEntry(data);
    entry.id += "-rule";
    entry.handle = data.rule;
    caller_.rule(entry.rule("flick"));
}

// Of another RPC type the route has no plugin that would call an upstream.
void Changes::metadata(bool other) {
    const std::string json = R"({"id":"meta","appName":"soak","contextPath":"/http","path":)" +
                             quoted(pattern(Route::Meta)) + R"(,"rpcType":)" + (other ? R"("dubbo")" : R"("http")") +
                             R"(,"serviceName":"Soak","methodName":"any","parameterTypes":"","rpcExt":"",)"
                             R"("enabled":true})";
    mustBe200(caller_.post("/shenyu/meta/saveOrUpdate", json), json);
}

void Changes::cross(bool enabled) {
    const std::string json = plugin("cross", true, std::string(R"({"enabled":)") + (enabled ? "true}" : "false}"));
    mustBe200(caller_.post(kPluginCall, json), json);
}

void Changes::rewrite(bool enabled) {
    const std::string json = plugin("rewrite", enabled);
    mustBe200(caller_.post(kPluginCall, json), json);
}

// A selector that no request meets, though each is asked about it.
void Changes::stranger(bool there) {
    if (!there) return caller_.deleteSelector("divide", "stranger");
    const auto handle = list(upstreams_, Upstreams::kDying);
    caller_.selector(Entry{"stranger", {{"header", "=", "X-Nobody", "sends this"}}, handle}.selector());
}

void Swaps::start(Findings& findings) {
    stopping_ = false;
    thread_ = std::thread([this, &findings] { run(findings); });
}

void Swaps::stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
}

void Swaps::run(Findings& findings) {
    try {
        while (!stopping_) {
            for (const char* generation : {"1", "2"}) {
                folder_.rename(functional::built(std::string("soak-extension-") + generation, "soak-extension"),
                               "soak-extension.so");
                if (!serves(generation)) throw std::runtime_error(std::string("generation ") + generation);
                ++made_;
            }
            folder_.remove("soak-extension.so");
            if (!serves("")) throw std::runtime_error("removal");
            ++made_;
        }
    } catch (const std::exception& error) {
        findings.add(std::string("a swap failed: ") + error.what());
    }
}

bool Swaps::serves(const std::string& generation) const {
    return support::eventually([&] {
        const HttpMessage answer = support::get(gateway_.port(), "/nothing/here");
        return answer.field("X-Extension").value_or("").substr(0, 1) == generation;
    }, std::chrono::seconds(60));
}

}  // namespace weir::soak
