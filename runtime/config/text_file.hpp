#pragma once

#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace weir::config {

// All of a file. The error names the path and the system's reason. Blocks: start-up and control thread only.
base::Result<std::string> readTextFile(const std::filesystem::path& path);

}  // namespace weir::config
