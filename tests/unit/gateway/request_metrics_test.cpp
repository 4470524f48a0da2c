#include "gateway/request_metrics.hpp"

#include <string>

#include "support/catch.hpp"

using namespace weir;
using namespace weir::gateway;

TEST_CASE("a request is counted by the class of its status, and timed when it had one that ends it") {
    struct Row { int status; std::size_t place; std::uint64_t timed; };
    const Row rows[] = {
        {0, 6, 0},   {101, 0, 0}, {200, 1, 1}, {299, 1, 1}, {304, 2, 1},
        {404, 3, 1}, {599, 4, 1}, {600, 5, 1}, {999, 5, 1},
    };
    for (const Row& row : rows) {
        INFO(row.status);
        RequestCounters counters;
        counters.over(row.status, row.status == 0, 1000);
        manage::Traffic traffic;
        counters.addTo(traffic);
        CHECK(traffic.requests[row.place] == 1);
        CHECK(traffic.aborted == (row.status == 0 ? 1 : 0));
        std::uint64_t timed = 0;
        for (const std::uint64_t count : traffic.latency.counts) timed += count;
        CHECK(timed == row.timed);
    }
}

TEST_CASE("plugins are counted by key over all loops, keys beyond the limit together") {
    PluginMetrics metrics(2);
    chain::PluginCounters* first = metrics.countersOf("a");
    ++first[0].entered;
    ++first[1].entered;
    for (std::size_t i = 0; i < 2 * PluginMetrics::kMaxKeys; ++i)
        ++metrics.countersOf("p" + std::to_string(i))->entered;
    CHECK(metrics.countersOf("a") == first);
    manage::Traffic traffic;
    metrics.addTo(traffic);
    REQUIRE(traffic.plugins.size() == PluginMetrics::kMaxKeys + 1);
    CHECK(traffic.plugins[0].key == "a");
    CHECK(traffic.plugins[0].entered == 2);
    CHECK(traffic.plugins[1].key == "other");
    CHECK(traffic.plugins[1].entered == PluginMetrics::kMaxKeys + 1);
}
