#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "base/result.hpp"

namespace weir::base {

// Puts a file with these bytes in the place of `file`, so that a reader sees the old one or the new one whole, after a
// crash too: written beside it as ".<name>.new", synchronised, renamed. A symbolic link is replaced, not followed. When
// it fails the old file is as it was. Blocks.
Result<void> replaceFile(const std::filesystem::path& file, std::string_view bytes, mode_t mode);

}  // namespace weir::base
