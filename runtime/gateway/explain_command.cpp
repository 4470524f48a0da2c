#include <sysexits.h>

#include <cstdio>
#include <string>

#include "base/log.hpp"
#include "data/configuration.hpp"
#include "gateway/commands.hpp"
#include "gateway/gateway.hpp"
#include "gateway/log_output.hpp"
#include "manage/management_client.hpp"

namespace weir::gateway {

namespace {

using base::Value;

std::string at(const Value& map, const char* key) {
    const Value* member = map.find(key);
    return member ? forTerminal(member->text()) : "";
}

std::string quoted(const Value& map, const char* key) { return "'" + at(map, key) + "'"; }

// Why one selector or rule is used or not.
std::string reason(const Value& verdict) {
    const std::string state = at(verdict, "state");
    const Value* condition = verdict.find("condition");
    if (!condition) {
        const std::string why = at(verdict, "reason");
        return state + (why.empty() ? "" : ": " + why);
    }
    const std::string name = at(*condition, "paramName");
    return "condition " + at(*condition, "number") + ": " + at(*condition, "paramType") +
           (name.empty() || name == "/" ? "" : " " + quoted(*condition, "paramName")) + " " +
           at(*condition, "operator") + " " + quoted(*condition, "paramValue") + ", but it is " +
           quoted(*condition, "value");
}

void printVerdicts(const Value& plugin, const char* kind, const char* list, const char* total) {
    const Value* verdicts = plugin.find(list);
    if (!verdicts) return;
    for (const Value& verdict : verdicts->items())
        std::printf("    %s %s: %s\n", kind, quoted(verdict, "name").c_str(), reason(verdict).c_str());
    const Value* all = plugin.find(total);
    const auto count = all ? all->toInt().value_or(0) : 0;
    const auto shown = static_cast<std::int64_t>(verdicts->items().size());
    if (count > shown) std::printf("    ... and %lld more (--limit)\n", static_cast<long long>(count - shown));
}

void printPlugin(const Value& plugin) {
    std::string line = at(plugin, "plugin") + ": " + at(plugin, "outcome");
    if (const Value* why = plugin.find("reason")) line += ", " + forTerminal(why->text());
    if (const Value* selector = plugin.find("selector")) line += ", selector " + quoted(*selector, "name");
    if (const Value* rule = plugin.find("rule")) line += ", rule " + quoted(*rule, "name");
    if (plugin.find("answer")) line += ", " + at(plugin, "answer");
    if (plugin.find("target")) line += " as " + quoted(plugin, "target");
    std::printf("%s\n", line.c_str());
    if (plugin.find("uri")) std::printf("    uri is %s\n", quoted(plugin, "uri").c_str());
    printVerdicts(plugin, "selector", "selectors", "selectorsTotal");
    printVerdicts(plugin, "rule", "rules", "rulesTotal");
}

void print(const Value& told) {
    const Value& request = *told.find("request");
    const std::string query = at(request, "query");
    std::printf("%s %s%s, host %s, from %s, RPC type %s", at(request, "method").c_str(), at(request, "path").c_str(),
                query.empty() ? "" : ("?" + query).c_str(), at(request, "host").c_str(), at(request, "client").c_str(),
                at(told, "rpcType").c_str());
    const Value* metadata = told.find("metadata");
    if (metadata && metadata->isObject()) std::printf(", metadata '%s'", at(*metadata, "path").c_str());
    std::printf("\n\n");
    for (const Value& plugin : told.find("plugins")->items()) printPlugin(plugin);
    if (const Value* upstream = told.find("upstream")) {
        const std::string url = at(*upstream, "url");
        std::printf("\n=> %s would be asked for %s\n", url.empty() ? "no upstream" : url.c_str(),
                    at(*upstream, "path").c_str());
    } else if (const Value* response = told.find("response")) {
        std::printf("\n=> response %s: %s\n", at(*response, "status").c_str(), at(*response, "body").c_str());
    } else {
        std::printf("\n=> it waits in the last plugin\n");
    }
}

base::Result<Value> askFile(const Arguments& arguments, data::Configuration configuration) {
    auto gateway = Gateway::prepare(std::move(configuration));
    if (!gateway) return std::move(gateway).error();
    for (const std::string& warning : (*gateway)->takeWarnings()) base::logWarning(warning);
    return (*gateway)->explainUnstarted(arguments.explained);
}

}  // namespace

int explainCommand(const Arguments& arguments) {
    logToTerminal();
    auto configuration = readConfiguration(arguments);
    if (!configuration) return fail(EX_CONFIG, configuration.error().text());
    base::Result<Value> told = Value();
    if (arguments.url.empty()) {
        told = askFile(arguments, std::move(*configuration));
    } else {
        const auto address = manage::parseManagementUrl(arguments.url);
        if (!address) return fail(EX_USAGE, address.error().text());
        told = manage::fetchExplanation(*address, configuration->settings.management.token, arguments.explained);
    }
    if (!told) {
        const bool io = told.error().code == base::ErrorCode::Io;
        return fail(io ? EX_UNAVAILABLE : EX_CONFIG, told.error().text());
    }
    if (arguments.json) std::printf("%s\n", base::toJson(*told).c_str());
    else print(*told);
    return EX_OK;
}

}  // namespace weir::gateway
