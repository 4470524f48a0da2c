#include "manage/metrics_page.hpp"

#include <array>
#include <map>
#include <utility>

#include "base/utf8.hpp"
#include "manage/module_pages.hpp"
#include "manage/traffic_metrics.hpp"

namespace weir::manage {

namespace {

constexpr std::array kStates = {ModuleState::Active, ModuleState::NotSelected, ModuleState::Refused,
                                ModuleState::Disabled, ModuleState::Draining, ModuleState::Hanging};

std::string word(ModuleState state) {
    std::string word(toText(state));
    for (char& c : word)
        if (c == ' ') c = '_';
    return word;
}

}  // namespace

void metricHead(std::string& out, const std::string& name, const std::string& type, const std::string& help) {
    out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

std::string labelValue(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = base::utf8Length(std::string_view(text).substr(i));
        if (length == 0) {
            out += "\xEF\xBF\xBD";
            ++i;
            continue;
        }
        const char c = text[i];
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n') out += "\\n";
        else out.append(text, i, length);
        i += length;
    }
    return out;
}

std::string metricsPage(const StatusSource& source) {
    const std::vector<ModuleStatus> modules = source.modules();
    std::string out;
    metricHead(out, "weir_ready", "gauge", "1 when the gateway serves and every required module does.");
    const bool ready = source.state() == ServingState::Up && source.missingModules().empty();
    out += std::string("weir_ready ") + (ready ? "1" : "0") + "\n";

    // Several generations of one module may drain: a series for each module and state counts them.
    std::map<std::string, std::map<ModuleState, int>> counts;
    std::map<std::string, std::uint64_t> failures;
    for (const ModuleStatus& module : modules) {
        ++counts[module.id][module.state];
        failures[module.id] += module.failures;
    }
    metricHead(out, "weir_modules", "gauge", "Generations of a module by state.");
    for (const auto& [id, states] : counts) {
        for (const ModuleState state : kStates) {
            const auto found = states.find(state);
            out += "weir_modules{module=\"" + labelValue(id) + "\",state=\"" + word(state) + "\"} " +
                   std::to_string(found == states.end() ? 0 : found->second) + "\n";
        }
    }
    metricHead(out, "weir_module_failures", "gauge",
               "Requests that the generations of a module in memory have failed.");
    for (const auto& [id, count] : failures)
        out += "weir_module_failures{module=\"" + labelValue(id) + "\"} " + std::to_string(count) + "\n";
    writeTraffic(out, source.traffic());
    return out;
}

}  // namespace weir::manage
