#include "manage/traffic_metrics.hpp"

#include <charconv>
#include <string_view>

#include "manage/metrics_page.hpp"

namespace weir::manage {

namespace {

std::string seconds(std::uint64_t ns) {
    char text[64];
    const double value = static_cast<double>(ns) / 1e9;
    return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr};
}

void single(std::string& out, const std::string& name, const char* type, const char* help, std::uint64_t value) {
    metricHead(out, name, type, help);
    out += name + " " + std::to_string(value) + "\n";
}

void histogram(std::string& out, const std::string& name, const char* help, const base::HistogramSum& sum) {
    metricHead(out, name, "histogram", help);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < sum.boundsNs.size(); ++i) {
        below += sum.counts[i];
        out += name + "_bucket{le=\"" + seconds(sum.boundsNs[i]) + "\"} " + std::to_string(below) + "\n";
    }
    if (!sum.counts.empty()) below += sum.counts.back();
    out += name + "_bucket{le=\"+Inf\"} " + std::to_string(below) + "\n";
    out += name + "_sum " + seconds(sum.sumNs) + "\n" + name + "_count " + std::to_string(below) + "\n";
}

void writeRequests(std::string& out, const Traffic& traffic) {
    metricHead(out, "weir_requests_total", "counter", "Requests that are over, by the class of the status sent.");
    for (std::size_t i = 0; i < kStatusClasses.size(); ++i) {
        out += std::string("weir_requests_total{status=\"") + kStatusClasses[i] + "\"} " +
               std::to_string(traffic.requests[i]) + "\n";
    }
    single(out, "weir_requests_aborted_total", "counter",
           "Requests whose response did not reach its end, also those without one.", traffic.aborted);
    single(out, "weir_requests_running", "gauge", "Requests that plugins and upstreams work on.", traffic.running);
    histogram(out, "weir_request_duration_seconds",
              "From a request's first byte to its response's last one written; no tunnels, nothing without response.",
              traffic.latency);
}

void writePlugins(std::string& out, const std::vector<Traffic::Plugin>& plugins) {
    const auto labelled = [&](const std::string& name, const Traffic::Plugin& plugin, std::uint64_t value,
                              const std::string& more = {}) {
        out += name + "{plugin=\"" + labelValue(plugin.key) + "\"" + more + "} " + std::to_string(value) + "\n";
    };
    metricHead(out, "weir_plugin_entered_total", "counter", "Requests that a plugin was entered for.");
    for (const auto& plugin : plugins) labelled("weir_plugin_entered_total", plugin, plugin.entered);
    metricHead(out, "weir_plugin_outcomes_total", "counter", "How a plugin's part in a request ended.");
    for (const auto& plugin : plugins) {
        labelled("weir_plugin_outcomes_total", plugin, plugin.forwarded, ",outcome=\"forwarded\"");
        labelled("weir_plugin_outcomes_total", plugin, plugin.replied, ",outcome=\"replied\"");
        labelled("weir_plugin_outcomes_total", plugin, plugin.failed, ",outcome=\"failed\"");
        labelled("weir_plugin_outcomes_total", plugin, plugin.dropped, ",outcome=\"dropped\"");
    }
    metricHead(out, "weir_plugin_unmatched_total", "counter",
               "Requests that ended because no selector or rule of a plugin matched.");
    for (const auto& plugin : plugins) labelled("weir_plugin_unmatched_total", plugin, plugin.unmatched);
}

}  // namespace

void writeTraffic(std::string& out, const Traffic& traffic) {
    writeRequests(out, traffic);
    writePlugins(out, traffic.plugins);
    single(out, "weir_client_connections", "gauge", "Connections of clients that are open.", traffic.connections);
    single(out, "weir_client_connections_accepted_total", "counter", "Connections of clients that were accepted.",
           traffic.accepted);
    single(out, "weir_client_connections_refused_total", "counter",
           "Connections of clients that were closed at once for want of descriptors.", traffic.refused);
    single(out, "weir_upstream_connections", "gauge", "Connections to upstreams that are open, idle ones included.",
           traffic.upstreamOpen);
    single(out, "weir_upstream_connections_idle", "gauge", "Connections to upstreams that wait for a request.",
           traffic.upstreamIdle);
    single(out, "weir_upstream_connections_opened_total", "counter", "Connections to upstreams that were begun.",
           traffic.upstreamOpened);
    single(out, "weir_upstream_connections_reused_total", "counter",
           "Calls of upstreams that found an idle connection.", traffic.upstreamReused);
    histogram(out, "weir_loop_lag_seconds",
              "How long an event loop was busy with one batch of events, and so how late it came to the next one.",
              traffic.loopBusy);
}

}  // namespace weir::manage
