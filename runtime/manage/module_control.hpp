#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "manage/status_source.hpp"
#include "module/probe_client.hpp"
#include "module/refusal.hpp"

namespace weir::manage {

// How the management port changes extension modules. Members are called by any of its threads, also at one time, and
// block until it is done: a trial run may take as long as extPlugin.probeTimeout. The gateway implements it. An error
// that is retryable: the gateway does not take calls at the moment.
class ModuleControl {
public:
    virtual ~ModuleControl() = default;

    enum class Action {
        Reload,    // load the file's bytes anew
        Disable,   // take it out until Enable, whatever its file does
        Enable,
        Rollback,  // back to the generation before; these bytes are set aside
        Clear,     // forget why its bytes were set aside or refused, and look at the file again
    };
    // `id` is a module's, or the name of a file that is refused. NotFound: there is no such module, or nothing to do it
    // with; InvalidModule: it was refused, and what served serves on; the text has the refusal with its code.
    virtual base::Result<void> act(const std::string& id, Action action) = 0;
    // What happened to it, oldest first; empty: it is not known.
    virtual std::vector<ModuleEvent> history(const std::string& id) const = 0;
    // What the whole pipeline would say to a module of these bytes, without loading it.
    virtual base::Result<module::ProbeReport, module::Refusal> validate(const std::string& bytes) = 0;
    // Checks the bytes and has them serve from <id>.so in the ext directory, with the Ed25519 signature over them that
    // came along, if any, beside it; what was there before stays if they are refused. Answers the id.
    virtual base::Result<std::string, module::Refusal> install(std::string bytes,
                                                               std::optional<std::string> signature) = 0;
};

}  // namespace weir::manage
