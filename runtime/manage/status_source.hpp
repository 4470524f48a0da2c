#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::manage {

enum class ServingState { Starting, Up, Draining };

// One key that a module provides.
struct ProvidedRow {
    std::string interface;
    std::string key;
    std::string order;  // a number for plugins, else empty
    std::string module;
    std::string version;
    std::string state;
};

// What the management port tells about the gateway. All members are called by any of its threads, also at one time.
class StatusSource {
public:
    virtual ~StatusSource() = default;

    virtual ServingState state() const = 0;
    virtual std::string serverAddress() const = 0;
    virtual std::uint16_t serverPort() const = 0;  // 0: not listening yet
    virtual std::vector<ProvidedRow> provided() const = 0;
};

}  // namespace weir::manage
