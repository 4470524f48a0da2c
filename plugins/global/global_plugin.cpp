#include <optional>
#include <string_view>

#include "weir/module.hpp"

namespace {

// ShenYu's classification of a request. Metadata, which would decide between the second and the last step, is not
// looked up yet.
std::string_view rpcType(const weir::Request& request) {
    const std::string_view wanted = request.header("rpc_type").value_or("");
    if (!wanted.empty()) return wanted;
    if (request.header("Upgrade") == "websocket") return "websocket";  // case sensitive, as in ShenYu
    return "http";
}

class Global final : public weir::Plugin {
    weir::Answer onRequest(weir::Exchange& exchange) override {
        const weir::Request request = exchange.request();
        const std::string_view path = request.path();
        const std::string_view type = rpcType(request);
        exchange.setSlot(weir::Slot::RpcType, type);
        exchange.setSlot(weir::Slot::RealUrl, path);
        const bool http = type == "http";
        if (http || type == "websocket") {  // the other types take both from their metadata
            exchange.setSlot(weir::Slot::Module, http ? "divide-http" : "websocket-websocket");
            exchange.setSlot(weir::Slot::Method, path);
        }
        return weir::Answer::Next;
    }
};

}  // namespace

WEIR_MODULE(weir::plugin<Global>("global", {.order = -1}))
