#include "module/loaded_module.hpp"

#include <dlfcn.h>

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "module/module_file.hpp"

namespace weir::module {

struct LoadedModule::Library {
    boost::dll::shared_library handle;
};

namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

// Sizes at the interfaces' revision 1; later members lie behind and are used only if the module's table has them.
constexpr std::size_t kModuleBytes = offsetof(weir_module, find) + sizeof(weir_module::find);
constexpr std::size_t kPluginBytes = offsetof(weir_plugin, finished) + sizeof(weir_plugin::finished);
constexpr std::size_t kLoadBalancerBytes = offsetof(weir_load_balancer, done) + sizeof(weir_load_balancer::done);
constexpr std::size_t kDataHandlerBytes =
    offsetof(weir_plugin_data_handler, removed) + sizeof(weir_plugin_data_handler::removed);

Error refuse(std::string message) { return Error{ErrorCode::InvalidModule, "", std::move(message)}; }

Error wrongAbi(std::uint32_t abi) {
    return refuse("it is built for ABI " + std::to_string(abi) + ", this gateway has ABI " +
                  std::to_string(WEIR_ABI_VERSION) + ": build it with this gateway's SDK");
}

Error tooSmall(std::string_view what, std::size_t size, std::size_t expected) {
    return refuse(std::string(what) + " has " + std::to_string(size) + " bytes, expected " + std::to_string(expected) +
                  " or more");
}

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

std::string_view view(weir_str text) {
    return text.data != nullptr ? std::string_view(text.data, text.size) : std::string_view();
}

template <class Table>
const Table* findKey(std::span<const Table* const> tables, std::string_view key) {
    const auto it = std::ranges::find_if(tables, [&](const Table* table) { return view(table->key) == key; });
    return it == tables.end() ? nullptr : *it;
}

// The list behind `interfaceId`, each table checked and named in the manifest. Equal numbers and distinct keys make it
// one to one.
template <class List, class Table>
Result<void> readList(const weir_module& root, const char* interfaceId, const Manifest& manifest,
                      std::string_view interface, std::size_t tableBytes, std::span<const Table* const>& out) {
    const auto promised = static_cast<std::size_t>(
        std::ranges::count(manifest.provides, interface, [](const Provided& item) -> std::string_view {
            return item.interface;
        }));
    const auto* list = static_cast<const List*>(root.find(interfaceId));
    if (list == nullptr) {
        if (promised == 0) return {};
        return refuse("its manifest promises " + std::string(interface) + ", but it does not answer " + interfaceId);
    }
    if (list->size < sizeof(List)) return tooSmall(std::string("its list of ") + interfaceId, list->size, sizeof(List));
    if (list->count != promised) {
        return refuse("its manifest promises " + std::to_string(promised) + " of " + std::string(interface) +
                      ", but it has " + std::to_string(list->count));
    }
    if (promised == 0) return {};
    if (list->items == nullptr) return refuse("its list of " + std::string(interfaceId) + " is null");
    const std::span<const Table* const> tables(list->items, list->count);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        const Table* table = tables[i];
        const std::string name = std::string(interface) + "[" + std::to_string(i) + "]";
        if (table == nullptr) return refuse(name + " is null");
        if (table->size < tableBytes) return tooSmall("the table of " + name, table->size, tableBytes);
        const std::string key(view(table->key));
        if (manifest.find(interface, key) == nullptr) {
            return refuse("it has " + std::string(interface) + " \"" + key + "\", which its manifest does not name");
        }
        if (findKey(tables.first(i), key) != nullptr) {
            return refuse("it has " + std::string(interface) + " \"" + key + "\" twice");
        }
        if (!isComplete(*table)) return refuse("the table of " + name + " \"" + key + "\" lacks a required function");
    }
    out = tables;
    return {};
}

}  // namespace

LoadedModule::LoadedModule(std::filesystem::path file, Manifest manifest)
    : file_(std::move(file)), manifest_(std::move(manifest)) {}

LoadedModule::~LoadedModule() {
    library_.reset();
    std::error_code ignored;
    if (!stagedFile_.empty()) std::filesystem::remove(stagedFile_, ignored);
}

Result<std::unique_ptr<LoadedModule>> LoadedModule::load(const std::filesystem::path& file, StagingDirectory& staging) {
    // What is checked are the bytes that are staged: the file is read once.
    auto read = readModuleFile(file);
    if (!read) return std::move(read).error();
    return load(file, *read, staging);
}

Result<std::unique_ptr<LoadedModule>> LoadedModule::load(const std::filesystem::path& file, const ModuleFile& read,
                                                         StagingDirectory& staging) {
    std::unique_ptr<LoadedModule> loaded(new LoadedModule(file, read.manifest));
    const auto withOrigin = [&](const Error& error) { return Error{error.code, file.string(), error.message}; };
    if (loaded->manifest_.abi != WEIR_ABI_VERSION) return withOrigin(wrongAbi(loaded->manifest_.abi));

    auto staged = staging.write(loaded->manifest_.id, read.bytes);
    if (!staged) return Error{ErrorCode::Io, file.string(), "cannot be staged: " + staged.error().text()};
    loaded->stagedFile_ = std::move(*staged);
    if (const auto opened = loaded->open(); !opened) return withOrigin(opened.error());
    if (const auto tables = loaded->readTables(); !tables) return withOrigin(tables.error());
    return loaded;
}

Result<void> LoadedModule::open() {
    using boost::dll::load_mode::type;
    int mode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local;
    if (manifest_.unload == Unload::Resident) mode |= RTLD_NODELETE;
    try {
        std::error_code failure;
        library_ = std::make_unique<Library>();
        library_->handle.load(stagedFile_, failure, static_cast<type>(mode));
        if (!failure) return {};
        const char* reason = ::dlerror();  // the error code says "bad file descriptor" whatever it was
        return refuse("it cannot be loaded: " + (reason != nullptr ? std::string(reason) : failure.message()));
    } catch (const std::exception& thrown) {
        return refuse(std::string("it cannot be loaded: ") + thrown.what());
    }
}

Result<void> LoadedModule::readTables() {
    if (!library_->handle.has(WEIR_MODULE_SYMBOL)) return refuse("it does not export " WEIR_MODULE_SYMBOL);
    const auto& root = library_->handle.get<const weir_module>(WEIR_MODULE_SYMBOL);
    if (root.size < kModuleBytes) return tooSmall(WEIR_MODULE_SYMBOL, root.size, kModuleBytes);
    if (root.abi != WEIR_ABI_VERSION) return wrongAbi(root.abi);
    if (root.find == nullptr) return refuse(WEIR_MODULE_SYMBOL ".find is null");

    auto read = readList<weir_plugin_list>(root, WEIR_INTERFACE_PLUGIN, manifest_, kPluginInterface, kPluginBytes,
                                           plugins_);
    if (!read) return read;
    read = readList<weir_load_balancer_list>(root, WEIR_INTERFACE_LOAD_BALANCER, manifest_, kLoadBalancerInterface,
                                             kLoadBalancerBytes, loadBalancers_);
    if (!read) return read;
    return readList<weir_plugin_data_handler_list>(root, WEIR_INTERFACE_PLUGIN_DATA_HANDLER, manifest_,
                                                   kPluginDataHandlerInterface, kDataHandlerBytes, dataHandlers_);
}

const weir_plugin* LoadedModule::findPlugin(std::string_view key) const { return findKey(plugins_, key); }

const weir_load_balancer* LoadedModule::findLoadBalancer(std::string_view key) const {
    return findKey(loadBalancers_, key);
}

const weir_plugin_data_handler* LoadedModule::findDataHandler(std::string_view key) const {
    return findKey(dataHandlers_, key);
}

}  // namespace weir::module
