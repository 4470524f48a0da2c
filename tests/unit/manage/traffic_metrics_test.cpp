#include "manage/traffic_metrics.hpp"

#include <string>

#include "support/catch.hpp"
#include "unit/manage/fake_status.hpp"

using namespace weir::manage;
using Catch::Contains;

namespace {

std::string written(const Traffic& traffic) {
    std::string out;
    writeTraffic(out, traffic);
    return out;
}

}  // namespace

TEST_CASE("traffic is written with help, type and every label, also of what is 0") {
    Traffic traffic;
    traffic.requests = {0, 3, 0, 1};
    traffic.plugins.push_back({"a\"b\\c\nd", 5, 1, 2, 3, 4, 6});
    const std::string page = written(traffic);
    CHECK_THAT(page, Contains("# HELP weir_requests_total Requests that are over, by the class of the status sent.\n"
                              "# TYPE weir_requests_total counter\n"
                              "weir_requests_total{status=\"1xx\"} 0\n"
                              "weir_requests_total{status=\"2xx\"} 3\n"
                              "weir_requests_total{status=\"3xx\"} 0\n"
                              "weir_requests_total{status=\"4xx\"} 1\n"
                              "weir_requests_total{status=\"5xx\"} 0\n"
                              "weir_requests_total{status=\"other\"} 0\n"
                              "weir_requests_total{status=\"none\"} 0\n"));
    const std::string label = R"({plugin="a\"b\\c\nd")";
    CHECK_THAT(page, Contains("weir_plugin_entered_total" + label + "} 5\n"));
    CHECK_THAT(page, Contains("weir_plugin_outcomes_total" + label + ",outcome=\"forwarded\"} 1\n"));
    CHECK_THAT(page, Contains("weir_plugin_outcomes_total" + label + ",outcome=\"replied\"} 2\n"));
    CHECK_THAT(page, Contains("weir_plugin_outcomes_total" + label + ",outcome=\"failed\"} 3\n"));
    CHECK_THAT(page, Contains("weir_plugin_outcomes_total" + label + ",outcome=\"dropped\"} 4\n"));
    CHECK_THAT(page, Contains("weir_plugin_unmatched_total" + label + "} 6\n"));
}

TEST_CASE("a histogram's buckets hold all that is at most their bound, in seconds") {
    weir::base::LoopHistogram<500'000, 1'000'000'000> one;
    weir::base::LoopHistogram<500'000, 1'000'000'000> other;
    for (const std::uint64_t ns : {1u, 500'000u, 500'001u}) one.observe(ns);
    other.observe(1'000'000'001);
    Traffic traffic;
    one.addTo(traffic.latency);
    other.addTo(traffic.latency);
    CHECK_THAT(written(traffic), Contains("# TYPE weir_request_duration_seconds histogram\n"
                                          "weir_request_duration_seconds_bucket{le=\"0.0005\"} 2\n"
                                          "weir_request_duration_seconds_bucket{le=\"1\"} 3\n"
                                          "weir_request_duration_seconds_bucket{le=\"+Inf\"} 4\n"
                                          "weir_request_duration_seconds_sum 1.001000003\n"
                                          "weir_request_duration_seconds_count 4\n"));
}
