#pragma once

#include <string>
#include <string_view>

namespace weir::chain {

// Codes and messages of ShenYu's error envelope (fact sheet 4.2) that the gateway itself answers with.
inline constexpr int kInternalCode = -1;
inline constexpr std::string_view kInternalMessage = "Internal exception in gateway. Please try again later!";
inline constexpr int kRuleNotFoundCode = -102;
inline constexpr int kTimeoutCode = -104;
inline constexpr int kSelectorNotFoundCode = -107;

// {"code":code,"message":"message"}
std::string errorBody(int code, std::string_view message);

// The HTTP status ShenYu itself sends where Weir sends `status` for this code (fact sheet 4.3), for
// weir.compat.errorStatus: shenyu.
int shenyuStatus(int status, int code);

}  // namespace weir::chain
