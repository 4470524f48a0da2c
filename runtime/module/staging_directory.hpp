#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// A private directory (mode 0700) of this process for the files that are mapped. Loading from a copy of our own keeps a
// module safe from whoever overwrites or truncates its file later; a fresh name for every generation keeps the dynamic
// loader from handing out an old one. Removed with everything in it on destruction; of a process that died, by the next
// one. Any thread.
class StagingDirectory {
public:
    // A directory "weir-<pid>-XXXXXX" in `place` (extPlugin.staging), or, when that is empty, in the first of
    // $XDG_RUNTIME_DIR, /tmp and /var/tmp that lets files be mapped as code and has 64 MiB free; when none has, in the
    // first that can be used at all. Removes what dead processes of this user left in these places: a lock held on a
    // file in the directory tells the living, whatever their pid. The error says what was wrong with each place.
    static base::Result<std::unique_ptr<StagingDirectory>> create(const std::filesystem::path& place = {});
    ~StagingDirectory();
    StagingDirectory(const StagingDirectory&) = delete;
    StagingDirectory& operator=(const StagingDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // For the operator: how much dead processes had left behind, now removed; "" for nothing.
    const std::string& warning() const { return warning_; }

    // Writes `bytes` to a new file "<id>-<generation>.so" of mode 0500. The caller removes it; what is left goes with
    // the directory. StagingFailed says what was needed and what is free; nothing is left behind then.
    base::Result<std::filesystem::path, Refusal> write(std::string_view id, std::string_view bytes);

private:
    StagingDirectory(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
    static base::Result<std::unique_ptr<StagingDirectory>> createIn(const std::filesystem::path& place);
    base::Result<void> lock();
    base::Result<void> checkExecutable() const;

    std::filesystem::path path_;
    int lock_;  // the descriptor that holds the lock
    std::string warning_;
    std::atomic<std::uint64_t> generation_{0};
};

}  // namespace weir::module
