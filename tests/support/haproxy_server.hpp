#pragma once

#include <memory>
#include <string>

#include "support/child_process.hpp"
#include "support/temp_directory.hpp"

namespace weir::support {

// A real HAProxy, in HTTP mode and with one thread, on a free port of 127.0.0.1 in front of one server. Needs the
// haproxy binary in PATH or /usr/sbin.
class HaproxyServer {
public:
    // `defaults` goes into the defaults section, e.g. timeouts; `server` is host:port. Throws with HAProxy's words when
    // it refuses them.
    HaproxyServer(const std::string& defaults, const std::string& server);

    int port() const { return port_; }

private:
    TempDirectory work_;
    int port_ = 0;
    std::unique_ptr<ChildProcess> process_;
};

}  // namespace weir::support
