#include "context_path_handle.hpp"

#include <chrono>
#include <random>
#include <string>
#include <string_view>

#include "weir/module.hpp"

namespace {

using weir::context_path::ContextPathHandle;

// Blank becomes empty; anything else must begin with '/', or the upstream would get a target without one.
bool preparePath(std::string& path, std::string_view name, weir_error* error) {
    path.erase(0, path.find_first_not_of(" \t"));
    path.erase(path.find_last_not_of(" \t") + 1);
    if (path.empty() || path.front() == '/') return true;
    return weir::refuse(error, std::string(name), "expected a path that begins with '/', found '" + path + "'");
}

// True for `percentage` of a hundred calls.
bool drawn(int percentage) {
    if (percentage >= 100) return true;
    // One generator a thread needs no lock, and one without a destructor keeps the module unloadable.
    thread_local std::minstd_rand generator(
        static_cast<std::uint_fast32_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    return std::uniform_int_distribution<int>(0, 99)(generator) < percentage;
}

// Whether `path` is `prefix` or continues it with a new segment.
bool isUnder(std::string_view path, std::string_view prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

// What the path is to be taken for is another service's, whose metadata counts from now on.
void rewriteContext(weir::Exchange& exchange, const std::string& context, std::string_view rest) {
    exchange.setSlot(weir::Slot::RewriteContextPath, context);
    exchange.findMetadata(context + std::string(rest));
}

class ContextPath final : public weir::RulePlugin<ContextPathHandle> {
public:
    bool prepareRule(ContextPathHandle& handle, weir_error* error) override {
        if (!preparePath(handle.contextPath, "contextPath", error) ||
            !preparePath(handle.addPrefix, "addPrefix", error) ||
            !preparePath(handle.rewriteContextPath, "rewriteContextPath", error)) {
            return false;
        }
        handle.hasContextPath = !handle.contextPath.empty();
        // Cutting "/order/" would leave "findById", which is no path.
        while (handle.contextPath.ends_with('/')) handle.contextPath.pop_back();
        return true;
    }

    weir::Answer onRequest(weir::Exchange& exchange, const ContextPathHandle& handle) override {
        const std::string_view path = exchange.request().path();
        std::string_view rest = "";
        if (handle.hasContextPath) {
            // ShenYu cuts that many characters off whatever they are.
            if (!isUnder(path, handle.contextPath)) return weir::Answer::Next;
            rest = path.substr(handle.contextPath.size());
        }
        if (!handle.rewriteContextPath.empty() && drawn(handle.percentage))
            rewriteContext(exchange, handle.rewriteContextPath, rest);
        if (!handle.addPrefix.empty()) {
            std::string prefixed = handle.addPrefix;
            prefixed += rest.empty() ? path : rest;
            exchange.setSlot(weir::Slot::RealUrl, prefixed);
        } else if (handle.hasContextPath && handle.addPrefixed) {
            // The context path stays part of the path: were it set as a slot too, later plugins would see it twice.
            exchange.setSlot(weir::Slot::RealUrl, path);
            return weir::Answer::Next;
        } else {
            exchange.setSlot(weir::Slot::RealUrl, rest);
        }
        if (handle.hasContextPath) exchange.setSlot(weir::Slot::ContextPath, handle.contextPath);
        return weir::Answer::Next;
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<ContextPath>("contextPath", {.order = 80}))
