#include "module/staging_directory.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace weir::module {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

bool forbidsExecution(const std::string& directory) {
    struct statvfs status {};
    return ::statvfs(directory.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0;
}

}  // namespace

Result<std::unique_ptr<StagingDirectory>> StagingDirectory::create() {
    std::string tried;
    const char* runtimeDirectory = std::getenv("XDG_RUNTIME_DIR");
    for (const char* base : {runtimeDirectory, "/tmp"}) {
        if (base == nullptr || *base == '\0') continue;
        std::string path = std::string(base) + "/weir-" + std::to_string(::getpid()) + "-XXXXXX";
        if (forbidsExecution(base)) {
            tried += std::string(tried.empty() ? "" : "; ") + base + ": mounted noexec";
        } else if (::mkdtemp(path.data()) == nullptr) {
            tried += std::string(tried.empty() ? "" : "; ") + base + ": " + std::strerror(errno);
        } else {
            return std::unique_ptr<StagingDirectory>(new StagingDirectory(path));
        }
    }
    return Error{ErrorCode::Io, "", "no private directory to load modules from (" + tried + ")"};
}

StagingDirectory::~StagingDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

Result<std::filesystem::path> StagingDirectory::write(std::string_view id, std::string_view bytes) {
    const auto generation = generation_.fetch_add(1, std::memory_order_relaxed) + 1;
    const auto file = path_ / (std::string(id) + "-" + std::to_string(generation) + ".so");
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    if (fd < 0) return Error{ErrorCode::Io, file.string(), std::string("cannot be created: ") + std::strerror(errno)};
    int failure = 0;
    for (std::size_t done = 0; failure == 0 && done < bytes.size();) {
        const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (put >= 0) done += static_cast<std::size_t>(put);
        else if (errno != EINTR) failure = errno;
    }
    if (::close(fd) != 0 && failure == 0) failure = errno;
    if (failure == 0) return file;
    ::unlink(file.c_str());
    return Error{ErrorCode::Io, file.string(), std::string("cannot be written: ") + std::strerror(failure)};
}

}  // namespace weir::module
