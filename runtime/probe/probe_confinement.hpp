#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace weir::probe {

// Limits this process before a module is loaded: processor time, address space (not under sanitizers, which reserve
// terabytes), descriptors, file size, no core file, no new privileges. It dies with `parent`, and before others when
// memory runs out. Processes are not limited: the system counts all of the user's, whatever else runs. Nothing here
// holds against malice; it bounds what a faulty module can do.
void confine(pid_t parent, std::int64_t cpuSeconds, std::size_t requestBytes);

}  // namespace weir::probe
