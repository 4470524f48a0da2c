#pragma once

#include <filesystem>

#include "base/result.hpp"
#include "module/module_file.hpp"

namespace weir::module {

// Puts a module's bytes in the place of `file`, and the signature that they came with, if any, beside it, where
// signatureOf() says. Each is replaced whole; the signature goes first, and when the bytes can not follow, what was
// there comes back. Blocks.
base::Result<void> placeModule(const std::filesystem::path& file, const ModuleFile& module);

}  // namespace weir::module
