#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace weir::module {

// A private directory (mode 0700) of this process for the files that are mapped. Loading from a copy of our own keeps a
// module safe from whoever overwrites or truncates its file later; a fresh name for every generation keeps the dynamic
// loader from handing out an old one. Removed with everything in it on destruction. Any thread.
class StagingDirectory {
public:
    // Under $XDG_RUNTIME_DIR, or /tmp when that is unset, unusable or mounted noexec.
    static base::Result<std::unique_ptr<StagingDirectory>> create();
    ~StagingDirectory();
    StagingDirectory(const StagingDirectory&) = delete;
    StagingDirectory& operator=(const StagingDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Writes `bytes` to a new file "<id>-<generation>.so". The caller removes it; what is left goes with the directory.
    base::Result<std::filesystem::path> write(std::string_view id, std::string_view bytes);

private:
    explicit StagingDirectory(std::filesystem::path path) : path_(std::move(path)) {}

    std::filesystem::path path_;
    std::atomic<std::uint64_t> generation_{0};
};

}  // namespace weir::module
