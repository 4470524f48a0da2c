#include "support/nginx_server.hpp"

#include <filesystem>
#include <stdexcept>

#include "support/wire_connection.hpp"

namespace weir::support {

namespace {

// Debian keeps it out of an ordinary user's PATH.
std::string nginxBinary() { return std::filesystem::exists("/usr/sbin/nginx") ? "/usr/sbin/nginx" : "nginx"; }

std::string configuration(const std::filesystem::path& work, const std::filesystem::path& root, int port,
                          const std::string& server) {
    auto directory = work.string();
    std::string temporary;
    for (auto name : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
        temporary += std::string(name) + "_temp_path " + directory + "/" + name + ";\n";
    }
    // One process, so that ending it leaves no worker behind.
    return "daemon off; master_process off; pid " + directory + "/pid; error_log stderr notice;\n"
           "events { worker_connections 4096; }\n"
           "http { access_log off; client_max_body_size 0;\n" + temporary +
           "server { listen 127.0.0.1:" + std::to_string(port) + "; root " + root.string() + ";\n" + server + "\n} }\n";
}

}  // namespace

NginxServer::NginxServer(const std::string& server) {
    // nginx cannot be asked which port it got from port 0; somebody else may take ours between the look and its bind.
    for (int attempt = 0;; ++attempt) {
        port_ = unusedPort();
        auto file = work_.write("nginx.conf", configuration(work_.path(), root_.path(), port_, server));
        process_ = std::make_unique<ChildProcess>(nginxBinary(),
                                                  std::vector<std::string>{"-e", "stderr", "-c", file.string()});
        try {
            process_->waitForLine("getrlimit(RLIMIT_NOFILE)");  // logged once its sockets listen
            return;
        } catch (const std::runtime_error& error) {
            bool taken = std::string(error.what()).find("Address already in use") != std::string::npos;
            if (!taken || attempt == 5) throw;
        }
    }
}

}  // namespace weir::support
