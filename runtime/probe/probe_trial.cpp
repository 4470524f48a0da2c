#include "probe/probe_trial.hpp"

#include <dlfcn.h>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "module/abi_text.hpp"
#include "module/loaded_module.hpp"
#include "module/module_check.hpp"
#include "module/module_file.hpp"
#include "probe/probe_host.hpp"
#include "probe/probe_leftovers.hpp"
#include "upstream/control_error.hpp"

namespace weir::probe {

namespace {

namespace fs = std::filesystem;
using base::Value;
using module::LoadedModule;
using module::RefusalCode;

const std::string kFixModule = "correct the module";
const std::string kFixEither = "correct the data or the module; what runs stays";

const weir_value* raw(const Value* value) { return reinterpret_cast<const weir_value*>(value); }

// Every second condition holds.
std::int32_t holdsEven(const weir_conditions* conditions, std::uint32_t index) {
    return index < conditions->count && index % 2 == 0;
}

std::string textOf(const Value& record, std::string_view key) {
    const Value* found = record.find(key);
    return found ? found->text() : std::string();
}

// A list's items; none when it is not there.
const std::vector<Value>& itemsOf(const Value* record, std::string_view key) {
    static const std::vector<Value> none;
    const Value* found = record ? record->find(key) : nullptr;
    return found ? found->items() : none;
}

std::string reasonOf(const weir_error& error) { return error.text.empty() ? "no reason given" : error.message(); }

class Trial {
public:
    Trial(const LoadedModule& loaded, const Value& data, const weir_host& host, ProbeAnswers& answers)
        : module_(loaded), data_(data), host_(host), answers_(answers) {}

    void run() {
        for (const weir_plugin* table : module_.plugins()) tryPlugin(*table);
        for (const weir_load_balancer* table : module_.loadBalancers()) tryBalancer(*table);
        for (const weir_plugin_data_handler* table : module_.dataHandlers()) tryHandler(*table);
        for (const weir_parameter_data* table : module_.parameterData()) tryParameterData(*table);
        for (const weir_predicate_judge* table : module_.predicateJudges()) tryJudge(*table);
        for (const weir_match_strategy* table : module_.matchStrategies()) tryStrategy(*table);
    }

private:
    struct Handle {
        weir_scope scope;
        void* handle;
    };

    // Says the step and does it. No function of a module may throw: one that does is refused, where the gateway would
    // end or leave things half done.
    template <class Call>
    auto step(const std::string& what, Call call) {
        answers_.step(what);
        try {
            return call();
        } catch (const std::exception& thrown) {
            refuse(RefusalCode::CreateFailed, what, std::string("ended by an exception: ") + thrown.what());
        } catch (...) {
            refuse(RefusalCode::CreateFailed, what, "ended by an exception of an unknown type");
        }
    }
    [[noreturn]] void refuse(RefusalCode code, const std::string& what, const std::string& found) {
        answers_.refuse({code, what, found, "", code == RefusalCode::ConfigRefused ? kFixEither : kFixModule});
    }

    const Value* recordsOf(std::string_view key) const {
        for (const Value& entry : data_.items()) {
            if (textOf(entry, "key") == key) return &entry;
        }
        return nullptr;
    }

    // As the gateway does when it builds a chain: the data of a plugin that is off, too.
    void tryPlugin(const weir_plugin& table) {
        const std::string key(table.key.data, table.key.size);
        const std::string name = "plugin '" + key + "'";
        void* plugin = nullptr;
        weir_error error;
        if (step("create of " + name, [&] { return table.create(&host_, &plugin, &error); }) != WEIR_OK) {
            refuse(RefusalCode::CreateFailed, "create of " + name, "refused: " + reasonOf(error));
        }
        std::vector<Handle> handles;
        const Value* records = recordsOf(key);
        const Value* record = records ? records->find("plugin") : nullptr;
        if (record && record->isNull()) record = nullptr;
        const bool byRule = module_.manifest().find(module::kPluginInterface, key)->matching == module::Matching::Rule;
        const auto prepareOf = [&](weir_scope scope, const Value* from, std::string_view field, bool inForce,
                                   const std::string& what) {
            prepare(table, plugin, scope, from, field, inForce, what, handles);
        };
        prepareOf(WEIR_SCOPE_CONFIG, record, "config", record || !byRule, name + ", config");
        if (byRule) prepareRules(name, record ? records : nullptr, prepareOf);
        step("release of handles of " + name, [&] {
            for (auto each = handles.rbegin(); each != handles.rend(); ++each)
                table.release(plugin, each->scope, each->handle);
        });
        step("destroy of " + name, [&] { table.destroy(plugin); });
    }

    template <class Prepare>
    void prepareRules(const std::string& name, const Value* records, Prepare prepareOf) {
        // The default rule is in force where a selector ends the search; else it may be refused.
        bool endsSearch = false;
        for (const Value& selector : itemsOf(records, "selectors")) {
            prepareOf(WEIR_SCOPE_SELECTOR, &selector, "handle", true,
                      name + ", selector '" + textOf(selector, "name") + "', handle");
            const Value* continued = selector.find("continued");
            endsSearch = endsSearch || (continued && continued->toBool() == false);
        }
        if (itemsOf(records, "selectors").empty())
            prepareOf(WEIR_SCOPE_SELECTOR, nullptr, "", false, name + ", default selector");
        prepareOf(WEIR_SCOPE_RULE, nullptr, "", endsSearch, name + ", default rule");
        for (const Value& rule : itemsOf(records, "rules")) {
            prepareOf(WEIR_SCOPE_RULE, &rule, "handle", true,
                      name + ", rule '" + textOf(rule, "name") + "', handle");
        }
    }

    // `field` of `record` is JSON as a text. What is not in force may be refused: nobody asks for it yet.
    void prepare(const weir_plugin& table, void* plugin, weir_scope scope, const Value* record, std::string_view field,
                 bool inForce, const std::string& what, std::vector<Handle>& handles) {
        std::optional<Value> parsed;
        const std::string text = record ? textOf(*record, field) : "";
        if (!text.empty()) {
            auto value = base::parseJson(text);
            if (!value) refuse(RefusalCode::ConfigRefused, what, "not JSON: " + value.error().text());
            if (!value->isNull()) parsed = std::move(*value);
        }
        void* handle = nullptr;
        weir_error error;
        const weir_status status = step("prepare of " + what, [&] {
            return table.prepare(plugin, scope, parsed ? raw(&*parsed) : nullptr, &handle, &error);
        });
        if (status == WEIR_OK) {
            handles.push_back({scope, handle});
        } else if (inForce) {
            refuse(RefusalCode::ConfigRefused, what, "refused: " + reasonOf(error));
        }
    }

    void tryBalancer(const weir_load_balancer& table) {
        const std::string name = "load balancer '" + std::string(table.key.data, table.key.size) + "'";
        const auto upstream = [](std::string_view url) {
            return weir_upstream{sizeof(weir_upstream), 50, {"http://", 7}, {url.data(), url.size()}, 1, 0, 0, 0};
        };
        const std::array upstreams = {upstream("127.0.0.1:1"), upstream("127.0.0.1:2")};
        void* state = nullptr;
        weir_error error;
        const weir_status made = step("create of " + name, [&] {
            return table.create(&host_, upstreams.data(), upstreams.size(), &state, &error);
        });
        if (made != WEIR_OK) refuse(RefusalCode::CreateFailed, "create of " + name, "refused: " + reasonOf(error));
        step("pick of " + name, [&] {
            constexpr std::uint64_t kExcluded[] = {0b00, 0b01, 0b10, 0b11};
            weir_pick request{sizeof(weir_pick), 0, {"127.0.0.1", 9}, nullptr};
            for (const std::uint64_t& excluded : kExcluded) {
                request.excluded = &excluded;
                const std::int32_t index = table.pick(state, &request);
                if (table.done && index >= 0) table.done(state, index, 1000000, 0);
            }
        });
        step("destroy of " + name, [&] { table.destroy(state); });
    }

    void tryHandler(const weir_plugin_data_handler& table) {
        const std::string key(table.key.data, table.key.size);
        const std::string name = "data handler '" + key + "'";
        void* handler = nullptr;
        weir_error error;
        if (step("create of " + name, [&] { return table.create(&host_, &handler, &error); }) != WEIR_OK)
            refuse(RefusalCode::CreateFailed, "create of " + name, "refused: " + reasonOf(error));
        if (const Value* records = recordsOf(key)) {
            const auto tell = [&](weir_data_kind kind, const Value& record, const std::string& what) {
                step("upserted of " + name + ", " + what, [&] { table.upserted(handler, kind, raw(&record)); });
            };
            const Value* plugin = records->find("plugin");
            if (plugin && !plugin->isNull()) tell(WEIR_DATA_PLUGIN, *plugin, "plugin");
            for (const Value& selector : itemsOf(records, "selectors"))
                tell(WEIR_DATA_SELECTOR, selector, "selector '" + textOf(selector, "name") + "'");
            for (const Value& rule : itemsOf(records, "rules"))
                tell(WEIR_DATA_RULE, rule, "rule '" + textOf(rule, "name") + "'");
        }
        step("destroy of " + name, [&] { table.destroy(handler); });
    }

    // Reading would need a request. A paramName may be refused: conditions with it are, then.
    void tryParameterData(const weir_parameter_data& table) {
        const std::string name = "parameter data '" + std::string(table.key.data, table.key.size) + "'";
        for (const std::string_view paramName : {"", "name"}) {
            void* state = nullptr;
            weir_error error;
            const weir_status made = step("create of " + name, [&] {
                return table.create(&host_, module::str(paramName), &state, &error);
            });
            if (made == WEIR_OK) step("destroy of " + name, [&] { table.destroy(state); });
        }
    }

    // Values that one or the other operator takes; each may be refused.
    void tryJudge(const weir_predicate_judge& table) {
        const std::string name = "predicate judge '" + std::string(table.key.data, table.key.size) + "'";
        for (const std::string_view paramValue : {"/", "1", "127.0.0.1"}) {
            const weir_condition condition{sizeof(weir_condition), 0, module::str("uri"), module::str("/"), module::str(paramValue)};
            void* state = nullptr;
            weir_error error;
            const weir_status made =
                step("create of " + name, [&] { return table.create(&host_, &condition, &state, &error); });
            if (made != WEIR_OK) continue;
            step("judge of " + name, [&] {
                for (const std::string_view value : {"/", "2", "127.0.0.1"}) table.judge(state, module::str(value));
                if (table.blanks) table.judge(state, weir_str{});
            });
            step("destroy of " + name, [&] { table.destroy(state); });
        }
    }

    void tryStrategy(const weir_match_strategy& table) {
        const std::string name = "match strategy '" + std::string(table.key.data, table.key.size) + "'";
        void* state = nullptr;
        weir_error error;
        if (step("create of " + name, [&] { return table.create(&host_, &state, &error); }) != WEIR_OK)
            refuse(RefusalCode::CreateFailed, "create of " + name, "refused: " + reasonOf(error));
        step("match of " + name, [&] {
            for (std::uint32_t count = 1; count <= 3; ++count) {
                const weir_conditions conditions{sizeof(weir_conditions), count, &holdsEven};
                table.match(state, &conditions);
            }
        });
        step("destroy of " + name, [&] { table.destroy(state); });
    }

    const LoadedModule& module_;
    const Value& data_;
    const weir_host& host_;
    ProbeAnswers& answers_;
};

// Loads it by hand first, so that what its constructors do and what its tables say are two steps. What a constructor
// throws ends the process: dlopen lets nothing through.
std::unique_ptr<LoadedModule> load(const fs::path& staged, module::Manifest manifest, ProbeAnswers& answers) {
    answers.step("load");
    void* library = ::dlopen(staged.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* reason = ::dlerror();
        answers.refuse(module::whyNotLoaded(reason ? reason : "the loader gives no reason", staged.string()));
    }
    answers.step("reading of tables");
    auto loaded = LoadedModule::loadStaged(staged, std::move(manifest));
    if (!loaded) answers.refuse(loaded.error());
    ::dlclose(library);
    return std::move(*loaded);
}

// Why a module is still mapped. The system does not tell: what the file shows is the likely reason.
std::string whyMapped(const module::ModuleFile& file) {
    const auto facts = module::checkModule(file.bytes, file.manifest, {});
    if (facts && !facts->residentReason.empty()) return facts->residentReason;
    if (file.bytes.find("__cxa_thread_atexit") != std::string::npos)
        return "a thread-local object of it has a destructor that is still to run";
    return "the dynamic loader keeps it for a reason that is not known";
}

}  // namespace

bool runTrial(const fs::path& staged, const Value& data, std::vector<std::string> balancers, ProbeAnswers& answers) {
    answers.step("reading of the manifest");
    const auto file = module::readModuleFile(staged);
    if (!file) answers.refuse(file.error());

    const std::uint32_t threadsBefore = countThreads();
    const ProbeHost host(std::move(balancers));
    std::unique_ptr<LoadedModule> loaded = load(staged, file->manifest, answers);
    Trial(*loaded, data, host, answers).run();

    answers.step("the look at what is left behind");
    const bool childrenRan = endChildren();
    const std::uint32_t threads = settledThreads(threadsBefore) - threadsBefore;
    if (threads > 0) {
        // Unloading would take the code away from under them.
        answers.passed(false, "threads of its own still run after everything of it was destroyed", threads);
        loaded.release();
        return false;
    }
    answers.step("unload");
    loaded.reset();
    std::string stays;
    if (module::isMapped(staged)) stays = whyMapped(*file);
    else if (childrenRan) stays = "it left a process of its own running";
    answers.passed(stays.empty(), stays, 0);
    return true;
}

}  // namespace weir::probe
