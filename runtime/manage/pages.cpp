#include "manage/pages.hpp"

#include <strings.h>

#include <utility>

#include "base/scalars.hpp"
#include "base/value.hpp"
#include "manage/data_pages.hpp"
#include "manage/metrics_page.hpp"
#include "manage/module_calls.hpp"
#include "manage/module_pages.hpp"
#include "manage/secret_text.hpp"
#include "module/manifest.hpp"

namespace weir::manage {

namespace {

using base::Value;
using base::scalars::number;
using base::scalars::text;


std::string_view nameOf(ServingState state) {
    switch (state) {
        case ServingState::Starting: return "STARTING";
        case ServingState::Up: return "UP";
        case ServingState::Draining: return "DRAINING";
    }
    return "UNKNOWN";
}

PageReply wrongToken() {
    PageReply reply = errorPage(401, "The token is missing or not correct: Authorization: Bearer TOKEN.");
    reply.challenge = "Bearer realm=\"weir management\"";
    return reply;
}

constexpr std::string_view kModule = "/plugins/";

bool isModule(std::string_view path) {
    return path.starts_with(kModule) && path.size() > kModule.size() &&
           path.find('/', kModule.size()) == std::string_view::npos;
}

}  // namespace

Pages::Pages(const StatusSource& source, config::Secret token, bool loopback, const Controls& controls,
             const config::Secret& localKey)
    : source_(source), token_(std::move(token)), loopback_(loopback), controls_(controls) {
    if (controls_.data) localApi_.emplace(controls_, localKey);
}

PageReply Pages::answer(const PageRequest& request, std::uint16_t port) const {
    const std::string_view path = request.target.substr(0, request.target.find('?'));
    if (localApi_ && LocalApi::owns(path)) return localApi_->answer(request);
    if (controls_.modules && isModuleCall(path)) return call(request);
    if (!loopback_ && token_.empty()) {
        return errorPage(403, "The management port is not on loopback and answers with a token only: set "
                          "weir.management.token.");
    }
    if (!loopback_ && !authorized(request.authorization)) return wrongToken();
    if (controls_.explain && path == "/explain") return explain(request);
    std::optional<PageReply> page;
    if (path == "/actuator/health") page = health(port);
    else if (path == "/actuator/prometheus") page = PageReply{200, metricsPage(source_), {}, {}, kMetricsType};
    else if (path == "/plugins") page = plugins();
    else if (path == "/spi") page = spi();
    else if (path == "/upstreams" && controls_.upstreams && controls_.data) page = upstreams();
    else if (auto module = modulePages(path)) page = std::move(*module);
    else if (auto dump = controls_.data ? dataPage(path, source_, *controls_.data) : std::nullopt)
        page = PageReply{200, std::move(*dump), {}, {}, {}};
    if (!page) {
        return errorPage(404, "There is no such page; there are /actuator/health, /actuator/prometheus, /plugins, "
                              "/plugins/ID, /plugins/ID/history, /spi and /upstreams; POST /explain says what would "
                              "become of a request.");
    }
    return request.method == "GET" || request.method == "HEAD" ? *page : wrongMethod("GET", "This page can only be read.");
}

// What changes modules needs the token wherever it comes from.
PageReply Pages::call(const PageRequest& request) const {
    if (token_.empty()) return errorPage(403, "Calls that change something need a token: set weir.management.token.");
    if (!authorized(request.authorization)) return wrongToken();
    return *moduleCall(request, *controls_.modules);
}

PageReply Pages::explain(const PageRequest& request) const {
    if (request.method != "POST") return wrongMethod("POST", "This call takes POST.");
    const auto body = readBody(request.body, LocalApi::kBodyLimit);
    if (!body) return errorPage(413, "The body is larger than " + std::to_string(LocalApi::kBodyLimit) + " bytes.");
    const auto tree = base::parseJson(*body);
    if (!tree) return errorPage(400, "request body:" + tree.error().origin + ": " + tree.error().message);
    const auto asked = explainRequestFrom(*tree);
    if (!asked) return errorPage(400, asked.error().text());
    const auto told = controls_.explain->explain(*asked);
    if (!told) return errorPage(told.error().retryable ? 503 : 400, told.error().text());
    return {200, base::toJson(*told), {}, {}, {}};
}

std::optional<PageReply> Pages::modulePages(std::string_view path) const {
    if (controls_.modules) {
        if (auto history = historyPage(path, *controls_.modules)) return history;
    }
    if (!isModule(path)) return std::nullopt;
    return modulePage(std::string(path.substr(kModule.size())), source_.modules(), waiting(), source_.holders());
}

bool Pages::authorized(std::string_view authorization) const {
    constexpr std::string_view scheme = "Bearer ";
    if (authorization.size() <= scheme.size()) return false;
    if (::strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0) return false;
    return sameSecret(authorization.substr(scheme.size()), token_.reveal());
}

PageReply Pages::health(std::uint16_t port) const {
    const ServingState state = source_.state();
    const std::vector<std::string> missing = source_.missingModules();
    Value server = Value::object();
    server.set("address", text(source_.serverAddress()));
    server.set("port", number(source_.serverPort()));
    Value management = Value::object();
    management.set("port", number(port));
    Value body = Value::object();
    const bool waits = state == ServingState::Up && !missing.empty();
    body.set("status", text(waits ? "WAITING" : nameOf(state)));
    body.set("server", std::move(server));
    body.set("management", std::move(management));
    if (!missing.empty()) {
        Value list = Value::array();
        for (const std::string& id : missing) list.append(text(id));
        body.set("missingModules", std::move(list));  // extPlugin.required
    }
    return {state == ServingState::Up && !waits ? 200 : 503, base::toJson(body), {}, {}, {}};
}

std::set<std::string> Pages::waiting() const {
    std::set<std::string> waiting;
    if (!controls_.data) return waiting;
    const std::vector<ModuleStatus> modules = source_.modules();
    controls_.data->read([&](const data::DataStore& store) { waiting = waitingPlugins(store.data(), modules); });
    return waiting;
}

// Plugins, and files that are refused: nobody can tell what they would have been.
PageReply Pages::plugins() const {
    const Value rows = moduleRows(source_.modules(), waiting());
    Value list = Value::array();
    for (const Value& row : rows.items()) {
        const std::string& interface = row.find("interface")->text();
        if (interface.empty() || interface == module::kPluginInterface) list.append(row);
    }
    return {200, base::toJson(list), {}, {}, {}};
}

PageReply Pages::upstreams() const {
    Value rows;
    controls_.data->read(
        [&](const data::DataStore& store) { rows = upstreamRows(*controls_.upstreams, store.data()); });
    return {200, base::toJson(rows), {}, {}, {}};
}

PageReply Pages::spi() const { return {200, base::toJson(moduleRows(source_.modules(), waiting())), {}, {}, {}}; }

}  // namespace weir::manage
