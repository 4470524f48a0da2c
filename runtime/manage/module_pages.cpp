#include "manage/module_pages.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/scalars.hpp"
#include "base/utc_time.hpp"
#include "manage/module_calls.hpp"

namespace weir::manage {

namespace {

using base::Value;
using base::scalars::number;
using base::scalars::text;
using Clock = std::chrono::system_clock;


bool isPlugin(const module::Provided& provided) { return provided.interface == module::kPluginInterface; }

bool providesPlugin(const ModuleStatus& module, std::string_view key) {
    return std::ranges::any_of(module.keys, [&](const ModuleStatus::Key& each) {
        return isPlugin(each.provided) && each.provided.key == key;
    });
}

// What rows and the page of a module have alike.
void addFacts(const ModuleStatus& module, Value& value) {
    value.set("file", text(module.file));
    if (module.generation > 0) value.set("generation", number(static_cast<std::int64_t>(module.generation)));
    value.set("since", text(base::isoTime(module.since)));
    if (module.refusal) value.set("reason", text(module.refusal->text()));
    if (module.state != ModuleState::Draining && module.state != ModuleState::Hanging) return;
    const auto lasts = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - module.since);
    value.set(std::string(toText(module.state)) + "Seconds", number(std::max<std::int64_t>(lasts.count(), 0)));
}

Value rowStart(std::string_view interface, std::string_view key) {
    Value row = Value::object();
    row.set("interface", text(interface));
    row.set("key", text(key));
    return row;
}

void addModule(std::string_view id, std::string_view version, std::string_view state, Value& row) {
    row.set("module", text(id));
    row.set("version", text(version));
    row.set("state", text(state));
}

Value keyRow(const ModuleStatus& module, const ModuleStatus::Key& key) {
    Value row = rowStart(key.provided.interface, key.provided.key);
    if (isPlugin(key.provided)) row.set("order", number(key.provided.order));
    addModule(module.id, module.version, toText(key.state), row);
    addFacts(module, row);
    if (module.rollbackRefused) row.set("rollbackRefused", text(module.rollbackRefused->text()));
    return row;
}

Value refusedRow(const ModuleStatus& module) {
    Value row = rowStart("", "");
    addModule(module.id, module.version, toText(module.state), row);
    addFacts(module, row);
    return row;
}

Value waitingRow(const std::string& plugin) {
    Value row = rowStart(module::kPluginInterface, plugin);
    addModule("", "", "waiting", row);
    return row;
}

Value provides(const ModuleStatus& module) {
    Value list = Value::array();
    for (const ModuleStatus::Key& key : module.keys) {
        Value each = rowStart(key.provided.interface, key.provided.key);
        if (isPlugin(key.provided)) each.set("order", number(key.provided.order));
        each.set("state", text(toText(key.state)));
        if (!key.provided.fields.isNull()) each.set("fields", key.provided.fields);
        list.append(std::move(each));
    }
    return list;
}

Value facts(const ModuleStatus& module) {
    Value value = Value::object();
    value.set("id", text(module.id));
    value.set("version", text(module.version));
    value.set("state", text(toText(module.state)));
    addFacts(module, value);
    if (!module.sha256.empty()) value.set("sha256", text(module.sha256));
    if (module.refusal) value.set("refusal", toValue(*module.refusal));
    if (module.rollbackRefused) value.set("rollbackRefused", toValue(*module.rollbackRefused));
    if (!module.stays.empty()) value.set("stays", text(module.stays));
    if (module.failures) value.set("failures", number(static_cast<std::int64_t>(module.failures)));
    return value;
}

// The module to show: the first of the best state.
template <class Wanted>
const ModuleStatus* best(const std::vector<ModuleStatus>& modules, Wanted wanted) {
    const ModuleStatus* found = nullptr;
    for (const ModuleStatus& module : modules) {
        if (wanted(module) && (!found || module.state < found->state)) found = &module;
    }
    return found;
}

// Requests that began while the generation served and still run.
Value holdersOf(const ModuleStatus& module, const std::vector<Holder>& holders) {
    Value list = Value::array();
    for (const Holder& holder : holders) {
        if (holder.snapshot < module.firstSnapshot || holder.snapshot > module.lastSnapshot) continue;
        Value value = Value::object();
        value.set("loop", number(static_cast<std::int64_t>(holder.loop)));
        value.set("snapshot", number(static_cast<std::int64_t>(holder.snapshot)));
        value.set("requests", number(static_cast<std::int64_t>(holder.requests)));
        value.set("seconds", number(static_cast<std::int64_t>(holder.seconds)));
        list.append(std::move(value));
    }
    return list;
}

// Others of the same id, or that want to replace its file.
Value companions(const std::vector<ModuleStatus>& modules, const ModuleStatus& shown, ModuleState state,
                 const std::vector<Holder>& holders) {
    Value list = Value::array();
    for (const ModuleStatus& module : modules) {
        if (&module == &shown || module.state != state) continue;
        if (module.id != shown.id && (state != ModuleState::Refused || module.file != shown.file)) continue;
        Value value = facts(module);
        if (state == ModuleState::Draining) value.set("holders", holdersOf(module, holders));
        list.append(std::move(value));
    }
    return list;
}

}  // namespace

std::string_view toText(ModuleState state) {
    switch (state) {
        case ModuleState::Active: return "active";
        case ModuleState::NotSelected: return "not selected";
        case ModuleState::Refused: return "refused";
        case ModuleState::Disabled: return "disabled";
        case ModuleState::Draining: return "draining";
        case ModuleState::Hanging: return "hanging";
    }
    return "unknown";
}

std::set<std::string> waitingPlugins(const data::DataSet& data, const std::vector<ModuleStatus>& modules) {
    std::set<std::string> waiting;
    for (const data::PluginData& plugin : data.plugins) waiting.insert(plugin.name);
    for (const data::SelectorData& selector : data.selectors) waiting.insert(selector.pluginName);
    for (const data::RuleData& rule : data.rules) waiting.insert(rule.pluginName);
    for (const ModuleStatus& module : modules) {
        for (const ModuleStatus::Key& key : module.keys) {
            if (key.state == ModuleState::Active && isPlugin(key.provided)) waiting.erase(key.provided.key);
        }
    }
    return waiting;
}

Value moduleRows(const std::vector<ModuleStatus>& modules, const std::set<std::string>& waiting) {
    struct Row {
        const ModuleStatus* module;
        const ModuleStatus::Key* key;
    };
    std::vector<Row> rows;
    for (const ModuleStatus& module : modules) {
        if (module.refusal) continue;
        for (const ModuleStatus::Key& key : module.keys) rows.push_back({&module, &key});
    }
    std::ranges::stable_sort(rows, {}, [](const Row& row) {
        const module::Provided& provided = row.key->provided;
        return std::tuple(std::string_view(provided.interface), provided.order, std::string_view(provided.key),
                          row.key->state, std::string_view(row.module->id));
    });
    Value list = Value::array();
    for (const Row& row : rows) list.append(keyRow(*row.module, *row.key));
    for (const std::string& plugin : waiting) list.append(waitingRow(plugin));
    for (const ModuleStatus& module : modules) {
        if (module.refusal) list.append(refusedRow(module));
    }
    return list;
}

PageReply modulePage(const std::string& id, const std::vector<ModuleStatus>& modules,
                     const std::set<std::string>& waiting, const std::vector<Holder>& holders) {
    const ModuleStatus* shown = best(modules, [&](const ModuleStatus& module) { return module.id == id; });
    if (!shown) shown = best(modules, [&](const ModuleStatus& module) { return providesPlugin(module, id); });
    if (!shown) {
        return errorPage(404, "There is no module and no plugin '" + id + "'" +
                                  (waiting.contains(id) ? "; there is data that waits for such a plugin." : "."));
    }
    Value body = facts(*shown);
    body.set("unload", text(shown->unload == module::Unload::Resident ? "resident" : "close"));
    body.set("provides", provides(*shown));
    if (shown->state == ModuleState::Draining) body.set("holders", holdersOf(*shown, holders));
    body.set("refused", companions(modules, *shown, ModuleState::Refused, {}));
    body.set("draining", companions(modules, *shown, ModuleState::Draining, holders));
    body.set("hanging", companions(modules, *shown, ModuleState::Hanging, {}));
    return {200, base::toJson(body), {}, {}, {}};
}

}  // namespace weir::manage
