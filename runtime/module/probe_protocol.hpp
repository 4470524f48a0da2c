#pragma once

#include <cstddef>

// What the gateway and weir-probe agree on. Both are of one build.
//
// The request is a file in memory, closed before the module is loaded (the command line could be read by it). It begins
// with kProbeStepBytes of zeros, where weir-probe puts the name of each step before it begins, ended by a zero: through
// a shared mapping, because with much data there are many steps. Behind them is a JSON object:
//     {"token": "...", "parent": PID, "cpuSeconds": N, "balancers": ["..."...], "data": ProbeInput::dataJson}
// The answer is a line "TOKEN JSON" in a pipe. Only lines with the token count, and each is led by a line end, so what
// the module writes to the descriptor does no harm:
//     {"refused": {"code": "...", "field": "...", "found": "...", "wanted": "...", "remedy": "..."}}
//     {"passed": {"unloads": true, "stays": "...", "threads": N}}  everything was done
namespace weir::module {

inline constexpr int kProbeRequestFd = 3;
inline constexpr int kProbeAnswerFd = 4;
inline constexpr std::size_t kProbeStepBytes = 512;

// Exit codes. Without an answer they say nothing: a module may have called exit().
inline constexpr int kProbeDone = 0;
inline constexpr int kProbeUsage = 64;     // not started by the gateway
inline constexpr int kProbeSilenced = 74;  // the answers have nowhere to go: the module closed their descriptor

}  // namespace weir::module
