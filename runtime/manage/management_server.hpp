#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "config/settings.hpp"
#include "manage/controls.hpp"
#include "manage/status_source.hpp"

namespace weir::manage {

// The management port: a plain HTTP server with a few threads of its own, apart from the event loops. It says how the
// gateway is and takes ShenYu's local calls (pages.hpp), from before the data port opens until the drain is
// over. All members: the control thread.
class ManagementServer {
public:
    // `source` and what `controls` name outlive the server; `localKey` is the setting local.sha512Key.
    ManagementServer(const config::Settings::Management& settings, const StatusSource& source,
                     const Controls& controls = {}, const config::Secret& localKey = {});
    ~ManagementServer();  // stops
    ManagementServer(const ManagementServer&) = delete;
    ManagementServer& operator=(const ManagementServer&) = delete;

    // Binds and answers. The error's origin is the address: it does not resolve, or the port is in use. Blocks while a
    // name is looked up.
    base::Result<void> start();
    std::uint16_t port() const;   // the one that was chosen for port 0; 0 before start
    std::string address() const;  // with the port: "127.0.0.1:9196", "[::1]:9196"; empty before start
    void stop();                  // cuts what still runs

private:
    struct Running;  // Poco's server

    config::Settings::Management settings_;
    const StatusSource& source_;
    Controls controls_;
    config::Secret localKey_;
    std::unique_ptr<Running> running_;
};

}  // namespace weir::manage
