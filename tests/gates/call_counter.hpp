#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gates/call_counts.hpp"
#include "support/temp_directory.hpp"

namespace weir::gates {

using Calls = std::array<std::uint64_t, kCalls>;

// Where a program counts its event loops' calls: start it with environment(). Throws std::system_error when the file
// can not be made.
class CallCounter {
public:
    CallCounter();
    ~CallCounter();
    CallCounter(const CallCounter&) = delete;
    CallCounter& operator=(const CallCounter&) = delete;

    // For a ChildProcess.
    std::vector<std::string> environment() const;

    // The calls of each loop so far. Exact for a loop that waits.
    std::vector<Calls> loops() const;

    // From now on the first allocations leave traces.
    void traceAllocations();
    // Those traces, each once, with functions and lines; needs the process alive and addr2line.
    std::string traces(int pid) const;

private:
    support::TempDirectory directory_;
    std::string file_;
    SharedCounts* shared_ = nullptr;
};

}  // namespace weir::gates
