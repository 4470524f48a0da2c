#include "manage/module_calls.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/scalars.hpp"
#include "base/utc_time.hpp"
#include "module/upload.hpp"

namespace weir::manage {

namespace {

using base::Value;
using base::scalars::text;
using Action = ModuleControl::Action;

constexpr std::string_view kModules = "/plugins/";
constexpr std::string_view kValidate = "/plugins:validate";
constexpr std::string_view kHistory = "/history";

struct Named {
    std::string_view name;
    Action action;
};
constexpr Named kActions[] = {
    {"reload", Action::Reload},     {"disable", Action::Disable}, {"enable", Action::Enable},
    {"rollback", Action::Rollback}, {"clear", Action::Clear},
};

struct Call {
    std::string id;
    const Named* action = nullptr;  // null: an unknown one
    std::string name;
};

// "/plugins/ID:ACTION"
std::optional<Call> callOf(std::string_view path) {
    if (!path.starts_with(kModules)) return std::nullopt;
    path.remove_prefix(kModules.size());
    const std::size_t colon = path.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || path.find('/') != std::string_view::npos) return std::nullopt;
    Call call{std::string(path.substr(0, colon)), nullptr, std::string(path.substr(colon + 1))};
    const auto found = std::ranges::find(kActions, call.name, &Named::name);
    if (found != std::end(kActions)) call.action = found;
    return call;
}

std::string actionNames() {
    std::string names;
    for (const Named& action : kActions) names += (names.empty() ? "" : ", ") + std::string(action.name);
    return names;
}

PageReply failed(const base::Error& error) {
    if (error.retryable) return errorPage(503, error.text());
    return errorPage(error.code == base::ErrorCode::NotFound ? 404 : 409, error.text());
}

PageReply act(const Call& call, ModuleControl& control) {
    if (!call.action) return errorPage(404, "There is no action '" + call.name + "'; there are " + actionNames() + ".");
    if (const auto done = control.act(call.id, call.action->action); !done.ok()) return failed(done.error());
    Value body = Value::object();
    body.set("id", text(call.id));
    body.set("done", text(call.name));
    return {200, base::toJson(body), {}, {}, {}};
}

PageReply validate(const PageRequest& request, ModuleControl& control) {
    const std::optional<std::string> bytes = readBody(request.body, module::kMaxUploadBytes);
    if (!bytes) return errorPage(413, "A module may have " + std::to_string(module::kMaxUploadBytes) + " bytes.");
    Value body = Value::object();
    const auto report = control.validate(*bytes);
    body.set("valid", Value::scalar(report.ok() ? "true" : "false", false));
    if (!report.ok()) {
        body.set("refusal", toValue(report.error()));
        return {200, base::toJson(body), {}, {}, {}};
    }
    body.set("unloads", Value::scalar(report->unloads ? "true" : "false", false));
    if (!report->stays.empty()) body.set("stays", text(report->stays));
    body.set("tookUs", Value::scalar(std::to_string(report->took.count()), false));
    if (!report->log.empty()) body.set("log", text(report->log));
    return {200, base::toJson(body), {}, {}, {}};
}

}  // namespace

Value toValue(const module::Refusal& refusal) {
    Value value = Value::object();
    value.set("code", text(module::toText(refusal.code)));
    if (!refusal.field.empty()) value.set("field", text(refusal.field));
    if (!refusal.found.empty()) value.set("found", text(refusal.found));
    if (!refusal.wanted.empty()) value.set("wanted", text(refusal.wanted));
    if (!refusal.remedy.empty()) value.set("remedy", text(refusal.remedy));
    value.set("message", text(refusal.text()));
    return value;
}

PageReply refusalPage(const module::Refusal& refusal) { return {400, base::toJson(toValue(refusal)), {}, {}, {}}; }

bool isModuleCall(std::string_view path) { return path == kValidate || callOf(path).has_value(); }

std::optional<PageReply> moduleCall(const PageRequest& request, ModuleControl& control) {
    const std::string_view path = request.target.substr(0, request.target.find('?'));
    if (!isModuleCall(path)) return std::nullopt;
    if (request.method != "POST") return wrongMethod("POST", "This is a call.");
    if (path == kValidate) return validate(request, control);
    return act(*callOf(path), control);
}

std::optional<PageReply> historyPage(std::string_view path, const ModuleControl& control) {
    if (!path.starts_with(kModules) || !path.ends_with(kHistory)) return std::nullopt;
    path.remove_prefix(kModules.size());
    if (path.size() <= kHistory.size()) return std::nullopt;
    path.remove_suffix(kHistory.size());
    const std::string id(path);
    const std::vector<ModuleEvent> events = control.history(id);
    if (events.empty()) return errorPage(404, "Nothing has happened to a module '" + id + "'.");
    Value list = Value::array();
    for (const ModuleEvent& event : events) {
        Value row = Value::object();
        row.set("time", text(base::isoTime(event.time)));
        row.set("event", text(event.what));
        row.set("version", text(event.version));
        if (event.generation) row.set("generation", Value::scalar(std::to_string(event.generation), false));
        if (!event.sha256.empty()) row.set("sha256", text(event.sha256));
        if (!event.detail.empty()) row.set("detail", text(event.detail));
        list.append(std::move(row));
    }
    return PageReply{200, base::toJson(list), {}, {}, {}};
}

}  // namespace weir::manage
