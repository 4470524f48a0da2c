#include <optional>
#include <string_view>

#include "weir/module.hpp"

namespace {

// ShenYu's classification of a request (fact sheet 3.1).
std::string_view rpcType(weir::Exchange& exchange) {
    const weir::Request request = exchange.request();
    const std::string_view wanted = request.header("rpc_type").value_or("");
    if (!wanted.empty()) return wanted;
    if (request.header("Upgrade") == "websocket") return "websocket";  // case sensitive, as in ShenYu
    if (!exchange.findMetadata(request.path())) return "http";
    const std::string_view type = exchange.metadata()->rpcType;
    return type.empty() ? "http" : type;
}

class Global final : public weir::Plugin {
public:
    weir::Answer onRequest(weir::Exchange& exchange) override {
        const std::string_view path = exchange.request().path();
        const std::string_view type = rpcType(exchange);
        exchange.setSlot(weir::Slot::RpcType, type);
        exchange.setSlot(weir::Slot::RealUrl, path);
        const std::optional<weir::Metadata> metadata = exchange.metadata();
        if (metadata && !metadata->appName.empty()) exchange.setSlot(weir::Slot::Module, metadata->appName);
        else if (type == "http") exchange.setSlot(weir::Slot::Module, "divide-http");
        else if (type == "websocket") exchange.setSlot(weir::Slot::Module, "websocket-websocket");
        const bool byPath = type == "http" || type == "websocket" || type == "springCloud";
        if (byPath) exchange.setSlot(weir::Slot::Method, path);
        else if (metadata) exchange.setSlot(weir::Slot::Method, metadata->serviceName);
        return weir::Answer::Next;
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Global>("global", {.order = -1}))
