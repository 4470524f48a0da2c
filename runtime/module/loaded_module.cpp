#include "module/loaded_module.hpp"

#include <dlfcn.h>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "module/abi_text.hpp"
#include "module/module_file.hpp"

namespace weir::module {

struct LoadedModule::Library {
    boost::dll::shared_library handle;
};

namespace {

using base::Result;

// Sizes at the interfaces' revision 1; later members lie behind and are used only if the module's table has them.
constexpr std::size_t kModuleBytes = offsetof(weir_module, find) + sizeof(weir_module::find);
constexpr std::size_t kPluginBytes = offsetof(weir_plugin, finished) + sizeof(weir_plugin::finished);
constexpr std::size_t kLoadBalancerBytes = offsetof(weir_load_balancer, done) + sizeof(weir_load_balancer::done);
constexpr std::size_t kDataHandlerBytes =
    offsetof(weir_plugin_data_handler, removed) + sizeof(weir_plugin_data_handler::removed);
constexpr std::size_t kParameterDataBytes = offsetof(weir_parameter_data, read) + sizeof(weir_parameter_data::read);
constexpr std::size_t kPredicateJudgeBytes =
    offsetof(weir_predicate_judge, judge) + sizeof(weir_predicate_judge::judge);
constexpr std::size_t kMatchStrategyBytes = offsetof(weir_match_strategy, match) + sizeof(weir_match_strategy::match);

// Held while a library is opened or closed, as the dynamic loader holds a lock of its own: a library may be mapped where
// another one was. ThreadSanitizer does not see the loader's lock, but this one.
std::mutex mapping;

Refusal badTables(std::string field, std::string found, std::string wanted) {
    return {RefusalCode::BadTables, std::move(field), std::move(found), std::move(wanted),
            "its tables and its manifest must come from one build"};
}

Refusal tooSmall(std::string table, std::size_t size, std::size_t expected) {
    return {RefusalCode::TableTooSmall, std::move(table), std::to_string(size) + " bytes",
            std::to_string(expected) + " or more", "build it with this gateway's SDK"};
}

std::string quote(std::string_view key) { return '"' + printable(key) + '"'; }

// "a: b: c" -> "a"
std::string upTo(std::string_view text, std::string_view end) { return std::string(text.substr(0, text.find(end))); }

// `finished` and `done` may be null.
bool isComplete(const weir_plugin& table) {
    return table.create != nullptr && table.prepare != nullptr && table.release != nullptr &&
           table.destroy != nullptr && table.enter != nullptr && table.resume != nullptr && table.drop != nullptr;
}
bool isComplete(const weir_load_balancer& table) {
    return table.create != nullptr && table.destroy != nullptr && table.pick != nullptr;
}
bool isComplete(const weir_plugin_data_handler& table) {
    return table.create != nullptr && table.destroy != nullptr && table.upserted != nullptr &&
           table.removed != nullptr;
}
bool isComplete(const weir_parameter_data& table) {
    return table.create != nullptr && table.destroy != nullptr && table.read != nullptr;
}
bool isComplete(const weir_predicate_judge& table) {
    return table.create != nullptr && table.destroy != nullptr && table.judge != nullptr;
}
bool isComplete(const weir_match_strategy& table) {
    return table.create != nullptr && table.destroy != nullptr && table.match != nullptr;
}

template <class Table>
const Table* findKey(std::span<const Table* const> tables, std::string_view key) {
    const auto it = std::ranges::find_if(tables, [&](const Table* table) { return view(table->key) == key; });
    return it == tables.end() ? nullptr : *it;
}

// The list behind `interfaceId`, each table checked and named in the manifest. Equal numbers and distinct keys make it
// one to one.
template <class List, class Table>
Result<void, Refusal> readList(const weir_module& root, const char* interfaceId, const Manifest& manifest,
                               std::string_view interface, std::size_t tableBytes,
                               std::span<const Table* const>& out) {
    const auto promised = static_cast<std::size_t>(
        std::ranges::count(manifest.provides, interface, [](const Provided& item) -> std::string_view {
            return item.interface;
        }));
    const std::string listName = std::string("the list of ") + interfaceId;
    const auto asManifest = [&] { return std::to_string(promised) + " as its manifest says"; };
    const auto* list = static_cast<const List*>(root.find(interfaceId));
    if (list == nullptr) {
        if (promised == 0) return {};
        return badTables(listName, "missing", asManifest());
    }
    if (list->size < sizeof(List)) return tooSmall(listName, list->size, sizeof(List));
    if (list->count != promised) return badTables(listName, std::to_string(list->count), asManifest());
    if (promised == 0) return {};
    if (list->items == nullptr) return badTables(listName, "null", asManifest());
    const std::span<const Table* const> tables(list->items, list->count);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        const Table* table = tables[i];
        const std::string name = std::string(interface) + "[" + std::to_string(i) + "]";
        if (table == nullptr) return badTables(name, "null", "a table");
        if (table->size < tableBytes) return tooSmall("the table of " + name, table->size, tableBytes);
        const std::string key(view(table->key));
        if (manifest.find(interface, key) == nullptr) {
            return badTables(name + ".key", quote(key), "one that its manifest names");
        }
        if (findKey(tables.first(i), key) != nullptr) {
            return badTables(name + ".key", quote(key) + " for the second time", "each key once");
        }
        if (!isComplete(*table)) {
            return badTables(name + " " + quote(key), "without a required function", "all of them");
        }
    }
    out = tables;
    return {};
}

}  // namespace

// From what dlerror() says:
//   /staged/m.so: undefined symbol: name                                      maybe followed by ", version V"
//   libx.so.1: cannot open shared object file: No such file or directory
//   /lib/libc.so.6: version `GLIBC_2.38' not found (required by /staged/m.so)
Refusal whyNotLoaded(std::string_view reason, const std::string& staged) {
    constexpr std::string_view kUndefined = "undefined symbol: ";
    constexpr std::string_view kNoLibrary = ": cannot open shared object file";
    constexpr std::string_view kNoVersion = ": version `";
    if (const auto at = reason.find(kUndefined); at != std::string_view::npos) {
        const std::string symbol = upTo(reason.substr(at + kUndefined.size()), ",");
        return {RefusalCode::UnresolvedSymbol, "the symbol " + demangled(symbol), "nowhere", "in a library it needs",
                "link what defines it; the gateway's own functions come through weir_host only"};
    }
    if (reason.find(kNoLibrary) != std::string_view::npos && !reason.starts_with(staged)) {
        return {RefusalCode::MissingLibrary, "the library " + printable(upTo(reason, ":")), "missing", "installed",
                "install it, or link it statically"};
    }
    if (const auto at = reason.find(kNoVersion); at != std::string_view::npos) {
        return {RefusalCode::UnresolvedSymbol, "the version " + printable(upTo(reason.substr(at + kNoVersion.size()), "'")),
                "missing in " + printable(upTo(reason, ":")), "there", "build it on this system, or on an older one"};
    }
    return {RefusalCode::LoadFailed, "", printable(reason), "", ""};
}

bool isMapped(const std::filesystem::path& file) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find(file.string()) != line.npos) return true;
    return false;
}

LoadedModule::LoadedModule(std::filesystem::path file, Manifest manifest, ModuleFacts facts)
    : file_(std::move(file)), manifest_(std::move(manifest)), facts_(std::move(facts)) {}

LoadedModule::~LoadedModule() {
    {
        const std::lock_guard lock(mapping);
        library_.reset();
    }
    std::error_code ignored;
    if (ownsStagedFile_) std::filesystem::remove(stagedFile_, ignored);
}

Result<std::unique_ptr<LoadedModule>, Refusal> LoadedModule::load(const std::filesystem::path& file,
                                                                  StagingDirectory& staging,
                                                                  const CheckPolicy& policy) {
    // What is checked are the bytes that are staged: the file is read once.
    auto read = readModuleFile(file);
    if (!read) return std::move(read).error();
    auto facts = checkModule(read->bytes, read->manifest, policy);
    if (!facts) return std::move(facts).error();
    return load(file, *read, *facts, staging);
}

Result<std::unique_ptr<LoadedModule>, Refusal> LoadedModule::load(const std::filesystem::path& file,
                                                                  const ModuleFile& read, const ModuleFacts& facts,
                                                                  StagingDirectory& staging) {
    std::unique_ptr<LoadedModule> loaded(new LoadedModule(file, read.manifest, facts));
    auto staged = staging.write(loaded->manifest_.id, read.bytes);
    if (!staged) return std::move(staged).error();
    loaded->stagedFile_ = std::move(*staged);
    loaded->ownsStagedFile_ = true;
    if (auto opened = loaded->open(); !opened) return std::move(opened).error();
    if (auto tables = loaded->readTables(); !tables) return std::move(tables).error();
    return loaded;
}

Result<std::unique_ptr<LoadedModule>, Refusal> LoadedModule::loadStaged(const std::filesystem::path& staged,
                                                                        Manifest manifest) {
    ModuleFacts facts;
    facts.unload = manifest.unload;
    std::unique_ptr<LoadedModule> loaded(new LoadedModule(staged, std::move(manifest), std::move(facts)));
    loaded->stagedFile_ = staged;
    if (auto opened = loaded->open(); !opened) return std::move(opened).error();
    if (auto tables = loaded->readTables(); !tables) return std::move(tables).error();
    return loaded;
}

Result<void, Refusal> LoadedModule::open() {
    using boost::dll::load_mode::type;
    int mode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local;
    if (facts_.unload == Unload::Resident) mode |= RTLD_NODELETE;
    try {
        std::error_code failure;
        library_ = std::make_unique<Library>();
        const std::lock_guard lock(mapping);
        library_->handle.load(stagedFile_, failure, static_cast<type>(mode));
        if (!failure) return {};
        const char* reason = ::dlerror();  // the error code says "bad file descriptor" whatever it was
        return whyNotLoaded(reason != nullptr ? reason : failure.message(), stagedFile_.string());
    } catch (const std::exception& thrown) {
        return Refusal{RefusalCode::LoadFailed, "", thrown.what(), "", ""};
    }
}

Result<void, Refusal> LoadedModule::readTables() {
    if (!library_->handle.has(WEIR_MODULE_SYMBOL)) return missingSymbol("missing");
    const auto& root = library_->handle.get<const weir_module>(WEIR_MODULE_SYMBOL);
    if (root.size < kModuleBytes) return tooSmall(WEIR_MODULE_SYMBOL, root.size, kModuleBytes);
    if (root.abi != WEIR_ABI_VERSION) return wrongAbi(std::to_string(root.abi));
    if (root.find == nullptr) return badTables(WEIR_MODULE_SYMBOL ".find", "null", "a function");

    auto read = readList<weir_plugin_list>(root, WEIR_INTERFACE_PLUGIN, manifest_, kPluginInterface, kPluginBytes,
                                           plugins_);
    if (!read) return read;
    read = readList<weir_load_balancer_list>(root, WEIR_INTERFACE_LOAD_BALANCER, manifest_, kLoadBalancerInterface,
                                             kLoadBalancerBytes, loadBalancers_);
    if (!read) return read;
    read = readList<weir_plugin_data_handler_list>(root, WEIR_INTERFACE_PLUGIN_DATA_HANDLER, manifest_,
                                                   kPluginDataHandlerInterface, kDataHandlerBytes, dataHandlers_);
    if (!read) return read;
    read = readList<weir_parameter_data_list>(root, WEIR_INTERFACE_PARAMETER_DATA, manifest_, kParameterDataInterface,
                                              kParameterDataBytes, parameterData_);
    if (!read) return read;
    read = readList<weir_predicate_judge_list>(root, WEIR_INTERFACE_PREDICATE_JUDGE, manifest_,
                                               kPredicateJudgeInterface, kPredicateJudgeBytes, predicateJudges_);
    if (!read) return read;
    return readList<weir_match_strategy_list>(root, WEIR_INTERFACE_MATCH_STRATEGY, manifest_, kMatchStrategyInterface,
                                              kMatchStrategyBytes, matchStrategies_);
}

const weir_plugin* LoadedModule::findPlugin(std::string_view key) const { return findKey(plugins_, key); }

const weir_load_balancer* LoadedModule::findLoadBalancer(std::string_view key) const {
    return findKey(loadBalancers_, key);
}

const weir_plugin_data_handler* LoadedModule::findDataHandler(std::string_view key) const {
    return findKey(dataHandlers_, key);
}

const weir_parameter_data* LoadedModule::findParameterData(std::string_view key) const {
    return findKey(parameterData_, key);
}

const weir_predicate_judge* LoadedModule::findPredicateJudge(std::string_view key) const {
    return findKey(predicateJudges_, key);
}

const weir_match_strategy* LoadedModule::findMatchStrategy(std::string_view key) const {
    return findKey(matchStrategies_, key);
}

}  // namespace weir::module
