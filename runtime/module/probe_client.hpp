#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// What a module is tried out with.
struct ProbeInput {
    std::filesystem::path program;     // weir-probe, see defaultProbeProgram()
    std::filesystem::path stagedFile;  // what is loaded; it is only read
    std::filesystem::path file;        // where it comes from, for messages
    // The data in force of the plugins that the module provides or hears of, in ShenYu's JSON as data::toValue() writes
    // it; records of other plugins do no harm. "" is "[]". `plugin` is null when there is only other data of it.
    //     [{"key": "divide", "plugin": {PluginData}, "selectors": [{SelectorData}...], "rules": [{RuleData}...]}...]
    std::string dataJson;
    std::vector<std::string> balancers;  // the load balancers that this data may name
    std::chrono::milliseconds deadline{10000};  // for all of it
    std::stop_token stop;                       // once it is requested the trial is ended, with ProbeFailed
};

struct ProbeReport {
    // It was gone after dlclose. If not, `stays` says what is known of the reason.
    bool unloads = false;
    std::string stays;
    std::uint32_t threads = 0;  // of its own, running after everything made from it was destroyed
    std::chrono::microseconds took{0};
    std::string log;  // what it logged or wrote to standard output and error, the first 16 KiB
};

// Tries a module out in a process of its own: loads it, compares its tables with its manifest, creates each plugin,
// prepares the data in force (where there is none, the defaults), creates load balancers and data handlers, gives all
// back and unloads it. The process has limits, none of this program's descriptors and few of its variables; it is gone
// when this returns, with all processes that it started, except one that left its session while the probe was killed.
// Blocks up to the deadline. Any thread, several at one time; nothing else may wait for children it does not know.
base::Result<ProbeReport, Refusal> probeModule(const ProbeInput& input);

// weir-probe in <directory of the running program>/../libexec/weir, or beside the program.
std::filesystem::path defaultProbeProgram();

}  // namespace weir::module
