#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "unit/sdk/fake_host.hpp"
#include "weir/abi.h"

namespace weir::test {

// A built module, opened as the gateway opens it. `name` is its file's, without ".so". It stays open until the program
// ends: a sanitizer cannot name the frames of a library that is closed.
class LoadedModule {
public:
    explicit LoadedModule(const std::string& name, const std::string& directory = WEIR_TEST_PLUGINS) {
        const std::string path = directory + "/" + name + ".so";
        void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library) throw std::runtime_error(dlerror());
        module_ = static_cast<const weir_module*>(dlsym(library, WEIR_MODULE_SYMBOL));
        if (!module_) throw std::runtime_error(path + " is not a module");
    }
    const void* find(const char* interface) const { return module_->find(interface); }

private:
    const weir_module* module_;
};

// The first plugin of a module, created.
class LoadedPlugin {
public:
    explicit LoadedPlugin(const std::string& name, const std::string& directory = WEIR_TEST_PLUGINS,
                          const weir_host& host = fakeHost())
        : module_(name, directory),
          table_(*static_cast<const weir_plugin_list*>(module_.find(WEIR_INTERFACE_PLUGIN))->items[0]) {
        if (table_.create(&host, &plugin_, error_.raw()) != WEIR_OK) throw std::runtime_error(error_.whole());
    }
    LoadedPlugin(const LoadedPlugin&) = delete;
    ~LoadedPlugin() { table_.destroy(plugin_); }

    const weir_plugin& table() const { return table_; }
    void* plugin() const { return plugin_; }

private:
    LoadedModule module_;
    const weir_plugin& table_;
    FakeError error_;
    void* plugin_ = nullptr;
};

// One handle, from JSON text; from nothing when the text is empty.
class LoadedHandle {
public:
    LoadedHandle(const LoadedPlugin& owner, weir_scope scope, std::string_view json) : owner_(owner), scope_(scope) {
        const FakeValue value(json.empty() ? "null" : json);
        status_ = owner.table().prepare(owner.plugin(), scope, json.empty() ? nullptr : value.raw(), &handle_,
                                        error_.raw());
    }
    LoadedHandle(const LoadedHandle&) = delete;
    ~LoadedHandle() {
        if (handle_) owner_.table().release(owner_.plugin(), scope_, handle_);
    }

    bool ok() const { return status_ == WEIR_OK; }
    void* get() const { return handle_; }
    const FakeError& error() const { return error_; }

private:
    const LoadedPlugin& owner_;
    weir_scope scope_;
    FakeError error_;
    void* handle_ = nullptr;
    weir_status status_;
};

// Enters a plugin that has no return part; the answer.
inline int enter(const LoadedPlugin& plugin, FakeExchange& exchange, void* rule = nullptr, void* selector = nullptr) {
    weir_match match{};
    match.size = sizeof match;
    match.rule = rule;
    match.selector = selector;
    weir_outcome outcome{};
    return plugin.table().enter(plugin.plugin(), &exchange, &match, &outcome);
}

}  // namespace weir::test
