#include "manage/upstream_page.hpp"

#include <chrono>

#include "support/catch.hpp"
#include "unit/upstream/endpoints.hpp"

using namespace weir;
using namespace weir::manage;
using upstream::Server;
using upstream::SetCatalog;

namespace {

std::uint64_t steadyNs(std::chrono::seconds from) {
    const auto then = std::chrono::steady_clock::now().time_since_epoch() + from;
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(then).count());
}

std::shared_ptr<const Server> server(const std::string& url, bool checked) {
    auto made = std::make_shared<Server>();
    made->url = url;
    made->checked = checked;
    return made;
}

struct Source final : UpstreamSource {
    std::vector<std::shared_ptr<const SetCatalog::Set>> upstreamSets() const override { return catalog.sets(); }
    std::shared_ptr<const upstream::AddressList> addressesOf(const Server& of) const override {
        if (of.url != "a:80") return nullptr;
        return std::make_shared<const upstream::AddressList>(upstream::endpoints({"10.0.0.1", "::1"}));
    }
    SetCatalog catalog;
};

data::DataSet withSelectors(const std::vector<std::string>& ids) {
    data::DataSet set;
    for (const std::string& id : ids) {
        data::SelectorData selector;
        selector.pluginName = "divide";
        selector.id = id;
        selector.name = "name of " + id;
        set.selectors.edit().emplace_back(std::move(selector));
    }
    return set;
}

}  // namespace

TEST_CASE("/upstreams tells of each upstream of a selector what its list says and how it is") {
    Source source;
    const auto a = server("a:80", true);
    a->state.inFlight = 2;
    a->state.calls = 7;
    a->state.failures = 3;
    a->state.latencyNs = 1234567;
    a->state.unhealthy = true;
    a->state.ejectedUntilNs = steadyNs(std::chrono::seconds(60));
    const auto b = server("b:80", true);
    b->state.ejectedUntilNs = steadyNs(std::chrono::seconds(-1));
    const upstream::OwnedSets owned(&source.catalog, "divide", "1");
    const auto set = source.catalog.add({{"http://", 50, true, true, a},
                                         {"http://", 0, false, false, b},
                                         {"http://", 50, true, false, server("c:80", false)}});
    CHECK(base::toJson(upstreamRows(source, withSelectors({"1"}))) ==
          R"([{"plugin":"divide","selector":"1","name":"name of 1","upstreams":[)"
          R"({"url":"a:80","protocol":"http://","weight":50,"status":true,"gray":true,"health":"unhealthy",)"
          R"("ejected":true,"addresses":["10.0.0.1:80","[::1]:80"],"inFlight":2,"calls":7,"failures":3,)"
          R"("latencyMs":1.235},)"
          R"({"url":"b:80","protocol":"http://","weight":0,"status":false,"gray":false,"health":"healthy",)"
          R"("ejected":false,"addresses":[],"inFlight":0,"calls":0,"failures":0,"latencyMs":0.000},)"
          R"({"url":"c:80","protocol":"http://","weight":50,"status":true,"gray":false,"health":"unchecked",)"
          R"("ejected":false,"addresses":[],"inFlight":0,"calls":0,"failures":0,"latencyMs":0.000}]}])");
}

TEST_CASE("/upstreams leaves out lists of selectors that are not in the data any more") {
    Source source;
    const upstream::OwnedSets owned(&source.catalog, "divide", "1");
    const auto set = source.catalog.add({});
    CHECK(base::toJson(upstreamRows(source, withSelectors({"2"}))) == "[]");
}
