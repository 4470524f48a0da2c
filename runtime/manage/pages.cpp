#include "manage/pages.hpp"

#include <strings.h>

#include <utility>

#include "base/value.hpp"
#include "manage/data_pages.hpp"
#include "manage/module_pages.hpp"
#include "manage/secret_text.hpp"
#include "module/manifest.hpp"

namespace weir::manage {

namespace {

using base::Value;

Value text(std::string_view text) { return Value::scalar(std::string(text), true); }
Value number(std::uint64_t number) { return Value::scalar(std::to_string(number), false); }

std::string_view nameOf(ServingState state) {
    switch (state) {
        case ServingState::Starting: return "STARTING";
        case ServingState::Up: return "UP";
        case ServingState::Draining: return "DRAINING";
    }
    return "UNKNOWN";
}

constexpr std::string_view kModule = "/plugins/";

bool isModule(std::string_view path) {
    return path.starts_with(kModule) && path.size() > kModule.size() &&
           path.find('/', kModule.size()) == std::string_view::npos;
}

}  // namespace

Pages::Pages(const StatusSource& source, config::Secret token, bool loopback, DataControl* control,
             const config::Secret& localKey)
    : source_(source), token_(std::move(token)), loopback_(loopback), control_(control) {
    if (control_) localApi_.emplace(*control_, localKey);
}

PageReply Pages::answer(const PageRequest& request, std::uint16_t port) const {
    const std::string_view path = request.target.substr(0, request.target.find('?'));
    if (localApi_ && LocalApi::owns(path)) return localApi_->answer(request);
    if (!loopback_ && token_.empty()) {
        return errorPage(403, "The management port is not on loopback and answers with a token only: set "
                          "weir.management.token.");
    }
    if (!loopback_ && !authorized(request.authorization)) {
        PageReply reply = errorPage(401, "The token is missing or not correct: Authorization: Bearer TOKEN.");
        reply.challenge = "Bearer realm=\"weir management\"";
        return reply;
    }
    const bool known = path == "/actuator/health" || path == "/plugins" || path == "/spi" || isModule(path);
    const auto dump = control_ && !known ? dataPage(path, source_, *control_) : std::nullopt;
    if (!known && !dump) return errorPage(404, "There is no such page; there are /actuator/health, /plugins, /plugins/ID and "
                              "/spi.");
    if (request.method != "GET") return wrongMethod("GET", "This page can only be read.");
    if (dump) return {200, *dump, {}, {}};
    if (isModule(path)) return modulePage(std::string(path.substr(kModule.size())), source_.modules(), waiting());
    if (path == "/plugins") return plugins();
    return path == "/spi" ? spi() : health(port);
}

bool Pages::authorized(std::string_view authorization) const {
    constexpr std::string_view scheme = "Bearer ";
    if (authorization.size() <= scheme.size()) return false;
    if (::strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0) return false;
    return sameSecret(authorization.substr(scheme.size()), token_.reveal());
}

PageReply Pages::health(std::uint16_t port) const {
    const ServingState state = source_.state();
    Value server = Value::object();
    server.set("address", text(source_.serverAddress()));
    server.set("port", number(source_.serverPort()));
    Value management = Value::object();
    management.set("port", number(port));
    Value body = Value::object();
    body.set("status", text(nameOf(state)));
    body.set("server", std::move(server));
    body.set("management", std::move(management));
    return {state == ServingState::Up ? 200 : 503, base::toJson(body), {}, {}};
}

std::set<std::string> Pages::waiting() const {
    std::set<std::string> waiting;
    if (!control_) return waiting;
    const std::vector<ModuleStatus> modules = source_.modules();
    control_->read([&](const data::DataStore& store) { waiting = waitingPlugins(store.data(), modules); });
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
    return {200, base::toJson(list), {}, {}};
}

PageReply Pages::spi() const { return {200, base::toJson(moduleRows(source_.modules(), waiting())), {}, {}}; }

}  // namespace weir::manage
