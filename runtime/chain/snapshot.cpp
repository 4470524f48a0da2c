#include "chain/snapshot.hpp"

#include <array>

namespace weir::chain {

namespace {
constexpr std::array<std::string_view, 10> kRpcTypes{"http", "websocket", "dubbo", "sofa", "tars",
                                                     "springCloud", "grpc", "ai", "mcp", "motan"};
static_assert(kRpcTypes[0] == "http" && kHttpBit == 1);
}

RpcMask rpcBit(std::string_view type) {
    if (type == "http") return kHttpBit;  // nearly always, and compared as one word
    for (std::size_t i = 0; i < kRpcTypes.size(); ++i)
        if (kRpcTypes[i] == type) return RpcMask{1} << i;
    return RpcMask{1} << kRpcTypes.size();
}

}  // namespace weir::chain
