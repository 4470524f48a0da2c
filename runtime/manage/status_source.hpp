#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "module/manifest.hpp"

namespace weir::manage {

enum class ServingState { Starting, Up, Draining };

enum class ModuleState {
    Active,       // serves
    NotSelected,  // a core module that spi/ does not name
    Refused,      // a file of the ext directory that was not taken
    Draining,     // a generation that was replaced or removed and that requests still use
};

// One generation of a module, or a file that could not become one.
struct ModuleStatus {
    struct Key {
        module::Provided provided;
        ModuleState state;  // of a core module not always the module's own: spi/ may name another for one of its keys
    };

    ModuleState state = ModuleState::Active;
    std::string id;       // of a file without a readable manifest its name, and the next three are empty
    std::string version;
    module::Unload unload = module::Unload::Close;
    std::vector<Key> keys;
    std::string file;
    std::string sha256;  // empty: a core module, or a file that could not be read
    std::uint64_t generation = 0;  // counts those of one id from 1; 0: refused
    std::chrono::system_clock::time_point since;  // when it came into this state
    std::string reason;  // why it is refused
};

// What the management port tells about the gateway. All members are called by any of its threads, also at one time.
class StatusSource {
public:
    virtual ~StatusSource() = default;

    virtual ServingState state() const = 0;
    virtual std::string serverAddress() const = 0;
    virtual std::uint16_t serverPort() const = 0;  // 0: not listening yet
    virtual std::vector<ModuleStatus> modules() const = 0;
};

}  // namespace weir::manage
