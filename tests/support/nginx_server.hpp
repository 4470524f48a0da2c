#pragma once

#include <memory>
#include <string>

#include "support/child_process.hpp"
#include "support/temp_directory.hpp"

namespace weir::support {

// A real nginx on a free port of 127.0.0.1. Needs the nginx binary in PATH or /usr/sbin.
class NginxServer {
public:
    // `server` goes into the server block, e.g. location blocks. Throws with nginx's words when it refuses it.
    explicit NginxServer(const std::string& server);

    int port() const { return port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    // Served as static files unless `server` says otherwise.
    const TempDirectory& root() const { return root_; }

private:
    TempDirectory root_;
    TempDirectory work_;
    int port_ = 0;
    std::unique_ptr<ChildProcess> process_;
};

}  // namespace weir::support
