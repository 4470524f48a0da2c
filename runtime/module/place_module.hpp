#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "module/module_file.hpp"

namespace weir::module {

// What lay in a module's place, and beside it; nullopt: nothing.
struct ReplacedModule {
    std::optional<std::string> bytes;
    std::optional<std::string> signature;
};

// Puts a module's bytes in the place of `file`, and the signature that they came with, if any, beside it, where
// signatureOf() says. Each is replaced whole; the signature goes first, and when the bytes can not follow, what was
// there comes back. Blocks.
base::Result<ReplacedModule> placeModule(const std::filesystem::path& file, const ModuleFile& module);
// Has the files hold again what they held before placeModule(). Blocks.
base::Result<void> putBack(const std::filesystem::path& file, const ReplacedModule& before);

}  // namespace weir::module
