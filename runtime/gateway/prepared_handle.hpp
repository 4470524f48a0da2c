#pragma once

#include <memory>
#include <utility>

#include "gateway/plugin_instance.hpp"

namespace weir::gateway {

// A handle and the plugin that made it, given back together; shared by the builds that need it. Control thread.
class PreparedHandle {
public:
    PreparedHandle(std::shared_ptr<PluginInstance> instance, weir_scope scope, void* handle)
        : instance_(std::move(instance)), scope_(scope), handle_(handle) {}
    ~PreparedHandle() {
        if (handle_) instance_->table().release(instance_->plugin(), scope_, handle_);
    }
    PreparedHandle(const PreparedHandle&) = delete;
    PreparedHandle& operator=(const PreparedHandle&) = delete;

    void* get() const { return handle_; }

private:
    std::shared_ptr<PluginInstance> instance_;
    weir_scope scope_;
    void* handle_;
};

// The handle itself, which keeps all of it.
inline std::shared_ptr<void> handleOf(const std::shared_ptr<PreparedHandle>& prepared) {
    return {prepared, prepared->get()};
}

}  // namespace weir::gateway
