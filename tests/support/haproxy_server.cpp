#include "support/haproxy_server.hpp"

#include <filesystem>
#include <stdexcept>

#include "support/wire_connection.hpp"

namespace weir::support {

namespace {

// Debian keeps it out of an ordinary user's PATH.
std::string haproxyBinary() {
    return std::filesystem::exists("/usr/sbin/haproxy") ? "/usr/sbin/haproxy" : "haproxy";
}

std::string configuration(int port, const std::string& defaults, const std::string& server) {
    return "global\n    nbthread 1\ndefaults\n    mode http\n" + defaults +
           "\nfrontend client\n    bind 127.0.0.1:" + std::to_string(port) +
           "\n    default_backend upstream\nbackend upstream\n    server one " + server + "\n";
}

}  // namespace

HaproxyServer::HaproxyServer(const std::string& defaults, const std::string& server) {
    // As with nginx: it does not say which port it got, and ours may be taken between the look and its bind.
    for (int attempt = 0;; ++attempt) {
        port_ = unusedPort();
        auto file = work_.write("haproxy.cfg", configuration(port_, defaults, server));
        // With a master process: only that one says when the sockets listen.
        process_ = std::make_unique<ChildProcess>(haproxyBinary(),
                                                  std::vector<std::string>{"-W", "-db", "-f", file.string()});
        try {
            process_->waitForLine("Loading success");
            return;
        } catch (const std::runtime_error& error) {
            bool taken = std::string(error.what()).find("Address already in use") != std::string::npos;
            if (!taken || attempt == 5) throw;
        }
    }
}

}  // namespace weir::support
