#include "chain/snapshot.hpp"

#include <array>
#include <string_view>

namespace weir::chain {

namespace {
constexpr std::array<std::string_view, 10> kRpcTypes{"http", "websocket", "dubbo", "sofa", "tars",
                                                     "springCloud", "grpc", "ai", "mcp", "motan"};
}

RpcMask rpcBit(std::string_view type) {
    for (std::size_t i = 0; i < kRpcTypes.size(); ++i)
        if (kRpcTypes[i] == type) return RpcMask{1} << i;
    return RpcMask{1} << kRpcTypes.size();
}

}  // namespace weir::chain
