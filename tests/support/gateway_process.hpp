#pragma once

#include <set>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/temp_directory.hpp"

namespace weir::support {

// How many descriptors the gateway's threads may open for themselves after one has counted: the watches of files and
// directories, the management server's poll. A test of what a step leaves open makes more steps than that.
inline constexpr std::size_t kThreadsOwn = 8;

// The real binary with a configuration of its own, on ports that the system chose. Made when it accepts connections.
class GatewayProcess {
public:
    // Throws with the gateway's output when it does not come up. `arguments` follow `run -c FILE` and the ports.
    explicit GatewayProcess(const std::string& yaml, const std::vector<std::string>& arguments = {},
                            const std::vector<std::string>& environment = {});

    int port() const { return port_; }
    int managementPort() const { return managementPort_; }
    const std::filesystem::path& configuration() const { return file_; }
    ChildProcess& process() { return process_; }
    const ChildProcess& process() const { return process_; }

    // Open descriptors, and memory in use, of the process right now.
    std::size_t descriptors() const;
    std::string descriptorTargets() const;  // what they lead to, a line each, for messages
    std::size_t residentBytes() const;

    // Memory mappings, and the names of the files among them that contain `text`.
    std::size_t mappings() const;
    std::set<std::string> mappedFiles(const std::string& text) const;

    // SIGTERM, and the exit code it leads to. Throws when the process is still there at the deadline.
    int stop();

private:
    TempDirectory directory_;
    std::filesystem::path file_;
    ChildProcess process_;
    int port_ = 0;
    int managementPort_ = 0;
};

}  // namespace weir::support
