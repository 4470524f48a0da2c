#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "module/manifest.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// What an operator allows beyond the C and C++ runtimes.
struct CheckPolicy {
    std::vector<std::string> libraries;  // `extPlugin.libraries`, as in DT_NEEDED: "libfoo.so.1"
};

// What is known of a module that passed.
struct ModuleFacts {
    Unload unload = Unload::Close;
    std::string residentReason;          // why it must stay mapped; empty: it may go
    // May a newer generation take its place before the gateway restarts? False when the manifest says resident. A
    // module that is resident only by what it imports may be replaced, though each old generation stays in memory.
    bool replaceable = true;
    std::vector<std::string> libraries;  // that are loaded with it
};

// Looks at a module's bytes, before any of its code runs: whether the loader can take it without harm to this process,
// whether it needs only what a module may need, whether it is made for this ABI and leaves alone what is built in, and
// whether it can be unloaded.
// `image` is the whole file, of any origin; `manifest` what its note says. Any thread.
base::Result<ModuleFacts, Refusal> checkModule(std::string_view image, const Manifest& manifest,
                                               const CheckPolicy& policy);

// Refusals that are found here and again in the loaded module. `found`: what is there, or "missing".
Refusal wrongAbi(std::string found);
Refusal missingSymbol(std::string found);

// Whether the gateway's own matching has that parameter type, operator or match mode, so that no module can provide it.
bool isBuiltIn(std::string_view interface, std::string_view key);

// Text out of a module's bytes, as it may stand in a message or log line: at most 512 characters, "?" for every byte
// that is not printable ASCII.
std::string printable(std::string_view text);

// A symbol's name as the programmer knows it, for messages; itself when it is none of C++. Printable.
std::string demangled(std::string_view symbol);

}  // namespace weir::module
