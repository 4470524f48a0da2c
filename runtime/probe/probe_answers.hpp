#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "module/refusal.hpp"

namespace weir::probe {

// What the gateway hears, see module/probe_protocol.hpp. Only the process that made it speaks: a fork of it that comes
// here ends. When nobody can be reached, the process ends. Main thread.
class ProbeAnswers {
public:
    // `stepArea`: kProbeStepBytes that the gateway reads when this process has ended.
    ProbeAnswers(int fd, std::string token, char* stepArea);

    // Said before it begins; named like "create of plugin 'x'".
    void step(std::string_view what);
    // Ends the process, running nothing of the module any more.
    [[noreturn]] void refuse(const module::Refusal& refusal);
    void passed(bool unloads, std::string_view stays, std::uint32_t threads);

private:
    void endForks() const;
    void write(const std::string& json);

    const int fd_;
    const std::string token_;
    char* const stepArea_;
    const pid_t self_;
};

}  // namespace weir::probe
