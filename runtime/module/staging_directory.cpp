#include "module/staging_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

namespace weir::module {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::uintmax_t kRoomWanted = 64ul * 1024 * 1024;
constexpr const char* kLockName = ".lock";
constexpr off_t kPage = 4096;

Error failed(const fs::path& path, const std::string& what, int number) {
    return Error{ErrorCode::Io, path.string(), what + ": " + std::strerror(number)};
}

std::uintmax_t freeBytes(const fs::path& directory) {
    std::error_code unknown;
    const fs::space_info space = fs::space(directory, unknown);
    return unknown ? 0 : space.available;
}

bool isMountedNoexec(const fs::path& directory) {
    struct statvfs status {};
    return ::statvfs(directory.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0;
}

std::vector<fs::path> placesFor(const fs::path& place) {
    if (!place.empty()) return {place};
    std::vector<fs::path> places;
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime != '\0') places.emplace_back(runtime);
    places.emplace_back("/tmp");
    places.emplace_back("/var/tmp");
    return places;
}

// "weir-<pid>-XXXXXX"
bool isStagingName(const std::string& name) {
    constexpr std::string_view prefix = "weir-";
    if (!name.starts_with(prefix)) return false;
    const std::size_t dash = name.find_first_not_of("0123456789", prefix.size());
    return dash != name.npos && dash > prefix.size() && name[dash] == '-' && name.size() == dash + 7;
}

std::uintmax_t bytesIn(const fs::path& directory) {
    std::uintmax_t sum = 0;
    std::error_code failure;
    for (fs::directory_iterator it(directory, failure), end; !failure && it != end; it.increment(failure)) {
        std::error_code unknown;
        const std::uintmax_t size = it->path().filename() == kLockName ? 0 : it->file_size(unknown);
        if (!unknown) sum += size;
    }
    return sum;
}

struct Leftovers {
    std::size_t directories = 0;
    std::uintmax_t bytes = 0;
};

// Removes `directory` when nobody lives in it. Without a lock's file it is none of ours, unless somebody died, or is,
// between making it and making that: it is empty then, and who lives tries again.
void removeIfDead(const fs::path& directory, Leftovers& removed) {
    const int lock = ::open((directory / kLockName).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (lock < 0) {
        if (errno == ENOENT) ::rmdir(directory.c_str());
        return;
    }
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {
        const std::uintmax_t bytes = bytesIn(directory);
        std::error_code failure;
        fs::remove_all(directory, failure);
        if (!failure) {
            removed.directories += 1;
            removed.bytes += bytes;
        }
    }
    ::close(lock);
}

Leftovers removeLeftovers(const fs::path& place) {
    Leftovers removed;
    std::error_code failure;
    for (fs::directory_iterator it(place, failure), end; !failure && it != end; it.increment(failure)) {
        if (!isStagingName(it->path().filename().string())) continue;
        struct stat status {};
        if (::lstat(it->path().c_str(), &status) != 0) continue;
        if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid()) removeIfDead(it->path(), removed);
    }
    return removed;
}

std::string describe(const Leftovers& left, const fs::path& place) {
    if (left.directories == 0) return "";
    return std::to_string(left.directories) + (left.directories == 1 ? " directory" : " directories") + " with " +
           std::to_string(left.bytes) + " bytes in " + place.string();
}

}  // namespace

Result<std::unique_ptr<StagingDirectory>> StagingDirectory::create(const fs::path& place) {
    std::string tried;
    std::string left;
    std::unique_ptr<StagingDirectory> chosen;
    for (const fs::path& each : placesFor(place)) {
        if (const std::string found = describe(removeLeftovers(each), each); !found.empty())
            left += (left.empty() ? "" : ", ") + found;
        if (chosen && freeBytes(chosen->path_) >= kRoomWanted) continue;
        auto made = createIn(each);
        if (!made) tried += (tried.empty() ? "" : "; ") + made.error().text();
        else if (!chosen || freeBytes((*made)->path_) >= kRoomWanted) chosen = std::move(made).value();
    }
    if (!chosen) {
        return Error{ErrorCode::Io, place.empty() ? "" : "extPlugin.staging",
                     "no private directory to load modules from (" + tried + ")" +
                         (place.empty() ? ": set extPlugin.staging to one that is not mounted noexec" : "")};
    }
    if (!left.empty()) chosen->warning_ = "removed what gateways that died had left: " + left;
    return chosen;
}

Result<std::unique_ptr<StagingDirectory>> StagingDirectory::createIn(const fs::path& place) {
    for (int attempt = 0; attempt < 10; ++attempt) {
        std::string path = (place / ("weir-" + std::to_string(::getpid()) + "-XXXXXX")).string();
        if (::mkdtemp(path.data()) == nullptr) return failed(place, "no directory can be made there", errno);
        std::unique_ptr<StagingDirectory> made(new StagingDirectory(path, -1));
        auto locked = made->lock();
        if (!locked && locked.error().retryable) continue;
        if (!locked) return Error{locked.error()};
        if (auto usable = made->checkExecutable(); !usable) return std::move(usable).error();
        return made;
    }
    return Error{ErrorCode::Io, place.string(), "other processes keep removing the directories made there"};
}

// Retryable: somebody who looks for leftovers was faster.
Result<void> StagingDirectory::lock() {
    const fs::path file = path_ / kLockName;
    lock_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock_ < 0 && errno == ENOENT) return Error{ErrorCode::Io, file.string(), "gone", true};
    if (lock_ < 0) return failed(file, "cannot be made", errno);
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return Error{ErrorCode::Io, file.string(), "taken", true};
        return failed(file, "cannot be locked", errno);
    }
    struct stat status {};
    if (::fstat(lock_, &status) != 0 || status.st_nlink == 0) return Error{ErrorCode::Io, file.string(), "gone", true};
    return {};
}

// A security module may forbid what the mount allows: only a mapping tells.
Result<void> StagingDirectory::checkExecutable() const {
    const fs::path place = path_.parent_path();
    if (::ftruncate(lock_, kPage) != 0) return failed(place, "nothing can be written there", errno);
    void* mapped = ::mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, lock_, 0);
    if (mapped != MAP_FAILED) {
        ::munmap(mapped, kPage);
        return {};
    }
    if (isMountedNoexec(place)) return Error{ErrorCode::Io, place.string(), "it is mounted noexec"};
    return failed(place, "its files cannot be mapped as code", errno);
}

StagingDirectory::~StagingDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);  // last: nobody takes half of it for a leftover
}

Result<fs::path, Refusal> StagingDirectory::write(std::string_view id, std::string_view bytes) {
    const auto generation = generation_.fetch_add(1, std::memory_order_relaxed) + 1;
    const auto file = path_ / (std::string(id) + "-" + std::to_string(generation) + ".so");
    int failure = 0;
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    if (fd < 0) {
        failure = errno;
    } else {
        for (std::size_t done = 0; failure == 0 && done < bytes.size();) {
            const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
            if (put >= 0) done += static_cast<std::size_t>(put);
            else if (errno != EINTR) failure = errno;
        }
        if (::close(fd) != 0 && failure == 0) failure = errno;
        if (failure != 0) ::unlink(file.c_str());
    }
    if (failure == 0) return file;
    return Refusal{RefusalCode::StagingFailed, "",
                   file.string() + " cannot be written: " + std::strerror(failure) + "; " +
                       std::to_string(bytes.size()) + " bytes are needed, " + std::to_string(freeBytes(path_)) +
                       " are free",
                   "",
                   "make room in " + path_.parent_path().string() + " or set extPlugin.staging to another directory"};
}

}  // namespace weir::module
