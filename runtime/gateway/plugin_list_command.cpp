#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "data/configuration.hpp"
#include "gateway/commands.hpp"
#include "gateway/gateway.hpp"
#include "gateway/log_output.hpp"
#include "manage/management_client.hpp"
#include "module/catalog.hpp"

namespace weir::gateway {

namespace {

using Line = std::array<std::string, 6>;

const Line kTitles = {"INTERFACE", "KEY", "ORDER", "MODULE", "VERSION", "STATE"};

void print(const std::vector<Line>& lines) {
    std::array<std::size_t, std::tuple_size_v<Line>> widths{};
    for (const Line& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    for (const Line& line : lines) {
        std::string text;
        for (std::size_t i = 0; i + 1 < line.size(); ++i) {
            text += line[i] + std::string(widths[i] + 2 - line[i].size(), ' ');
        }
        std::printf("%s%s\n", text.c_str(), line.back().c_str());
    }
}

std::string cell(const base::Value& row, const char* name) {
    const base::Value* member = row.find(name);
    return member && !member->text().empty() ? forTerminal(member->text()) : "-";
}

std::string stateOf(const base::Value& row) {
    std::string state = cell(row, "state");
    if (row.find("drainingSeconds")) state += " for " + cell(row, "drainingSeconds") + " s";
    if (row.find("reason")) state += ": " + cell(row, "reason");
    return state;
}

int listRunning(const Arguments& arguments, const config::Settings& settings) {
    const auto address = manage::parseManagementUrl(arguments.url);
    if (!address) return fail(EX_USAGE, address.error().text());
    const auto rows = manage::fetchModuleRows(*address, settings.management.token);
    if (!rows) {
        const bool token = rows.error().code == base::ErrorCode::InvalidConfig;
        return fail(token ? EX_CONFIG : EX_UNAVAILABLE, rows.error().text());
    }
    std::vector<Line> lines = {kTitles};
    for (const base::Value& row : rows->items()) {
        lines.push_back({cell(row, "interface"), cell(row, "key"), cell(row, "order"), cell(row, "module"),
                         cell(row, "version"), stateOf(row)});
    }
    print(lines);
    return EX_OK;
}

}  // namespace

base::Result<data::Configuration> readConfiguration(const Arguments& arguments) {
    const config::Environment environment = config::readEnvironment(environ);
    data::Configuration configuration;
    if (arguments.file.empty()) {
        auto settings = config::readSettings({}, "", arguments.overrides, environment, configuration.warnings);
        if (!settings) return settings.error();
        configuration.settings = std::move(*settings);
    } else {
        auto loaded = data::loadConfiguration(arguments.file, arguments.overrides, environment);
        if (!loaded) return loaded.error();
        configuration = std::move(*loaded);
    }
    for (const std::string& warning : configuration.warnings) base::logWarning(warning);
    return configuration;
}

int pluginListCommand(const Arguments& arguments) {
    logToTerminal();
    const auto configuration = readConfiguration(arguments);
    if (!configuration) return fail(EX_CONFIG, configuration.error().text());
    const config::Settings& settings = configuration->settings;
    if (!arguments.url.empty()) return listRunning(arguments, settings);
    const ModulePaths paths(settings);
    const auto catalog = module::ModuleCatalog::scan(paths.modules, paths.spi);

    std::vector<Line> lines = {kTitles};
    for (const module::ModuleCatalog::Entry& entry : catalog.entries()) {
        const module::Provided& provided = *entry.provided;
        const bool ordered = provided.interface == module::kPluginInterface;
        lines.push_back({provided.interface, provided.key, ordered ? std::to_string(provided.order) : "-",
                         entry.module->manifest.id, entry.module->manifest.version,
                         std::string(module::toText(entry.state))});
    }
    print(lines);
    for (const base::Error& problem : catalog.problems()) fail(EX_CONFIG, problem.text());
    return catalog.problems().empty() ? EX_OK : EX_CONFIG;
}

}  // namespace weir::gateway
