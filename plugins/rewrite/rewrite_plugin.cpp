#include <chrono>
#include <random>
#include <string>
#include <string_view>

#include "path_template.hpp"
#include "rewrite_handle.hpp"
#include "weir/arena_allocator.hpp"
#include "weir/module.hpp"

namespace {

using weir::ArenaString;
using weir::rewrite::PathTemplate;
using weir::rewrite::RewriteHandle;

bool isBlank(std::string_view text) { return text.find_first_not_of(" \t") == text.npos; }

// True for `percentage` of a hundred calls.
bool drawn(int percentage) {
    if (percentage >= 100) return true;
    // One generator a thread needs no lock, and one without a destructor keeps the module unloadable.
    thread_local std::minstd_rand generator(
        static_cast<std::uint_fast32_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    return std::uniform_int_distribution<int>(0, 99)(generator) < percentage;
}

// A query that the rewrite made goes in front of the client's, as in nginx.
void addQuery(weir::Request request, ArenaString query) {
    const std::string_view old = request.query();
    if (!old.empty()) query.append(query.empty() ? "" : "&").append(old);
    request.setQuery(query);
}

ArenaString joined(weir::Exchange& exchange, std::string_view first, std::string_view second) {
    ArenaString both(first, weir::ArenaAllocator<char>(exchange));
    both += second;
    return both;
}

// The request is for what the new path's metadata says from now on, in its RPC type.
void followMetadata(weir::Exchange& exchange, std::string_view rewriteContext, std::string_view path) {
    const std::string_view context =
        rewriteContext.empty() ? exchange.slot(weir::Slot::ContextPath) : rewriteContext;
    std::string_view type = "http";
    if (exchange.findMetadata(joined(exchange, context, path))) type = exchange.metadata()->rpcType;
    exchange.setSlot(weir::Slot::RpcType, type.empty() ? "http" : type);
}

class Rewrite final : public weir::RulePlugin<RewriteHandle> {
public:
    bool prepareRule(RewriteHandle& handle, weir_error* error) override {
        if (isBlank(handle.regex) || isBlank(handle.replace)) return true;
        const PathTemplate parsed = PathTemplate::parse(handle.regex);
        if (!handle.pattern.compile(parsed, error)) return false;
        const std::string fault = handle.replacement.parse(handle.replace, parsed.names);
        if (fault.empty()) return true;
        return weir::refuse(error, "replace", "'" + handle.replace + "' " + fault);
    }

    weir::Answer onRequest(weir::Exchange& exchange, const RewriteHandle& handle) override {
        if (!handle.pattern || !drawn(handle.percentage)) return weir::Answer::Next;
        const std::string_view context = exchange.slot(weir::Slot::RewriteContextPath);
        if (context.empty()) rewrite(exchange, handle, exchange.request().path(), context);
        else rewrite(exchange, handle, joined(exchange, context, exchange.slot(weir::Slot::RealUrl)), context);
        return weir::Answer::Next;
    }

private:
    void rewrite(weir::Exchange& exchange, const RewriteHandle& handle, std::string_view path,
                 std::string_view context) {
        ArenaString made{weir::ArenaAllocator<char>(exchange)};
        made.reserve(2 * path.size());  // mostly enough, so that it grows but once
        // ShenYu puts the path itself in the target's place then, which undoes what contextPath has cut.
        if (!handle.replacement.apply(path, handle.pattern, made)) return;
        if (const std::size_t query = made.find('?'); query != made.npos) {
            addQuery(exchange.request(), ArenaString(made, query + 1, made.npos, made.get_allocator()));
            made.resize(query);
        }
        if (!made.starts_with('/')) made.insert(0, 1, '/');
        exchange.setSlot(weir::Slot::RewriteUri, made);
        if (handle.rewriteMetaData) followMetadata(exchange, context, made);
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Rewrite>("rewrite", {.order = 90}))
