#include "base/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/descriptor.hpp"

namespace weir::base {

namespace fs = std::filesystem;

namespace {

Error failed(const fs::path& file, const char* what, int number) {
    return {ErrorCode::Io, file.string(), std::string(what) + ": " + std::strerror(number)};
}

bool writeAll(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

Result<void> writeNew(const fs::path& file, std::string_view bytes, mode_t mode) {
    // One that a crash left behind may have another mode.
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) return failed(file, "cannot be removed", errno);
    const Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (out.fd() < 0) return failed(file, "cannot be written", errno);
    if (writeAll(out.fd(), bytes) && ::fchmod(out.fd(), mode) == 0 && ::fsync(out.fd()) == 0) return {};
    const int number = errno;
    ::unlink(file.c_str());
    return failed(file, "cannot be written", number);
}

}  // namespace

Result<void> replaceFile(const fs::path& file, std::string_view bytes, mode_t mode) {
    const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
    const fs::path fresh = directory / ("." + file.filename().string() + ".new");
    auto written = writeNew(fresh, bytes, mode);
    if (!written.ok()) return written;
    if (::rename(fresh.c_str(), file.c_str()) != 0) {
        const int number = errno;
        ::unlink(fresh.c_str());
        return failed(file, "cannot be replaced", number);
    }
    const Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.fd() < 0 || ::fsync(opened.fd()) != 0) return failed(directory, "cannot be synchronised", errno);
    return {};
}

}  // namespace weir::base
