#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "manage/traffic.hpp"
#include "module/manifest.hpp"
#include "module/refusal.hpp"

namespace weir::manage {

enum class ServingState { Starting, Up, Draining };

enum class ModuleState {
    Active,       // serves
    NotSelected,  // a core module that spi/ does not name
    Refused,      // a file of the ext directory that was not taken
    Disabled,     // taken out by a call
    Draining,     // a generation that was replaced or removed and that requests still use
    Hanging,      // a load that did not end in its time: its thread goes on until the process ends
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
    std::optional<module::Refusal> refusal;  // why it is refused or disabled
    std::optional<module::Refusal> rollbackRefused;  // why it serves on though it was to be rolled back
    std::string stays;           // why its code stays in memory when it is over; empty: it does not
    std::uint64_t failures = 0;  // requests that it failed since it came
    std::uint64_t firstSnapshot = 0;  // versions that it serves in; last 0: it still does
    std::uint64_t lastSnapshot = 0;
};

// What is known of a module before it serves.
ModuleStatus describe(const module::Manifest& manifest, const std::filesystem::path& file, const std::string& sha256);

// Something that happened to a module.
struct ModuleEvent {
    std::chrono::system_clock::time_point time;
    std::string what;  // loaded, replaced, removed, refused, disabled, rolled back, roll-back refused
    std::string version;
    std::string sha256;
    std::uint64_t generation = 0;  // 0: it has none
    std::string detail;
};

// Requests that still use data and modules which are not in force any more.
struct Holder {
    std::size_t loop = 0;
    std::uint64_t snapshot = 0;  // its version
    std::size_t requests = 0;
    double seconds = 0;          // since it is not in force
};

// What the management port tells about the gateway. All members are called by any of its threads, also at one time.
class StatusSource {
public:
    virtual ~StatusSource() = default;

    virtual ServingState state() const = 0;
    virtual std::string serverAddress() const = 0;
    virtual std::uint16_t serverPort() const = 0;  // 0: not listening yet
    virtual std::vector<ModuleStatus> modules() const = 0;
    // Modules of extPlugin.required that do not serve: the gateway is not ready while there are any.
    virtual std::vector<std::string> missingModules() const = 0;
    // Asks the loops; those that do not answer at once are left out.
    virtual std::vector<Holder> holders() const = 0;
    virtual Traffic traffic() const = 0;
};

}  // namespace weir::manage
