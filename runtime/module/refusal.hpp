#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace weir::module {

// Why a module file is not taken. The words of toText() are part of what operators and scripts rely on: they stay.
enum class RefusalCode {
    Unreadable,        // cannot be opened or read
    TooLarge,
    NotElf,
    Truncated,         // a segment reaches past the file's end
    WrongMachine,      // another class, byte order or machine
    NotShared,         // an executable or object file
    NoManifest,
    BadManifest,
    AbiMismatch,
    TableTooSmall,
    BadTables,         // they are not what the manifest says
    MissingSymbol,     // it does not export weir_module_v1
    UnresolvedSymbol,  // it imports what no library has
    ForbiddenLibrary,  // it needs one that a module must not need
    MissingLibrary,
    TextRelocations,
    ExecutableStack,
    StaticTls,
    GnuUnique,
    KeyConflict,       // somebody serves one of its keys
    IdConflict,
    CoreKey,           // one of its keys is built in, or a core module serves it
    Unsupported,       // it provides what a running gateway cannot take
    ProbeCrashed,      // by a signal, when it was tried out in a process of its own
    ProbeTimeout,
    ProbeExited,
    ProbeFailed,       // the probe itself could not run
    CreateFailed,
    CreateTimeout,
    ConfigRefused,     // it does not take the data in force
    ResidentLimit,
    Untrusted,         // not on the allow-list, or not signed by a known key
    WritablePath,      // others may write to the file or its directory
    Disabled,          // by a call
    SetAside,          // these bytes were rolled back, or the gateway died while it loaded them
    StagingFailed,     // no place for the private copy
    LoadFailed,        // for another reason that the loader gives
};
// "wrong_machine"
std::string_view toText(RefusalCode code);

// What an operator is told: what was looked at, what was there, what should have been, and what to do. Parts that do
// not apply are empty.
struct Refusal {
    RefusalCode code{};
    std::string field;   // "segment 2", "provides[0].key", "DT_NEEDED"
    std::string found;
    std::string wanted;
    std::string remedy;  // a sentence

    // "wrong_machine: e_machine is 183, expected 62: build it for this machine"
    std::string text() const;
    base::Error error(std::string origin) const;
};

}  // namespace weir::module
