#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "data/data_store.hpp"

// The file of `weir.data.snapshot`: what calls changed, as JSON, closed by a line with its SHA-256. It holds secrets:
// only the owner may read it (mode 0600). Control thread; both block on the disk.
namespace weir::data {

// Puts a whole new file in the place of the old one; after a crash there is the old or the new one, on the disk too.
base::Result<void> saveSnapshot(const std::filesystem::path& file, const std::vector<SavedChange>& changes);

// Nothing when there is no such file. A damaged file is renamed to FILE.damaged-<UTC time> and ignored, and a warning
// says so. The error: the file cannot be read, or a damaged one cannot be renamed (the next save would overwrite it).
base::Result<std::vector<SavedChange>> loadSnapshot(const std::filesystem::path& file,
                                                    std::vector<std::string>& warnings);

}  // namespace weir::data
