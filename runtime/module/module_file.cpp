#include "module/module_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include "module/elf_note.hpp"

namespace weir::module {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::size_t kMaxFileBytes = 512ul * 1024 * 1024;

Error ioError(const fs::path& path, const char* what) {
    return Error{ErrorCode::Io, path.string(), std::string(what) + ": " + std::strerror(errno)};
}

Result<std::string> readAll(int fd, const fs::path& path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return ioError(path, "cannot be examined");
    if (!S_ISREG(status.st_mode)) return Error{ErrorCode::InvalidModule, path.string(), "it is not a regular file"};
    if (static_cast<std::uint64_t>(status.st_size) > kMaxFileBytes) {
        return Error{ErrorCode::InvalidModule, path.string(),
                     "it has " + std::to_string(status.st_size) + " bytes, allowed are " +
                         std::to_string(kMaxFileBytes)};
    }
    // A file that grows meanwhile is read up to the size seen first; its own headers tell whether that is enough.
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return ioError(path, "cannot be read");
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

}  // namespace

bool isModuleName(const fs::path& file) {
    return file.extension() == ".so" && file.filename().string().front() != '.';
}

Result<ModuleFile> readModuleFile(const fs::path& path) {
    // O_NONBLOCK: a FIFO put there must not hang the scan.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return ioError(path, "cannot be opened");
    auto bytes = readAll(fd, path);
    ::close(fd);
    if (!bytes) return std::move(bytes).error();

    const auto note = findManifestNote(*bytes);
    if (!note) return Error{note.error().code, path.string(), note.error().message};
    auto manifest = parseManifest(*note);
    if (!manifest) return Error{manifest.error().code, path.string(), manifest.error().message};
    return ModuleFile{std::move(*bytes), std::move(*manifest)};
}

FoundModules findModules(const fs::path& directory) {
    FoundModules out;
    std::error_code failure;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(directory, failure), end; !failure && it != end; it.increment(failure)) {
        if (isModuleName(it->path())) files.push_back(it->path());
    }
    if (failure) out.problems.push_back({ErrorCode::Io, directory.string(), "cannot be read: " + failure.message()});
    std::ranges::sort(files);
    for (const auto& file : files) {
        auto read = readModuleFile(file);
        if (!read) {
            out.problems.push_back(read.error());
            continue;
        }
        const std::string& id = read->manifest.id;
        const auto twin = std::ranges::find_if(out.modules, [&](const auto& each) { return each.manifest.id == id; });
        if (twin != out.modules.end()) {
            out.problems.push_back({ErrorCode::InvalidModule, file.string(),
                                    "the id \"" + id + "\" belongs to " + twin->file.string() + " already"});
            continue;
        }
        out.modules.push_back({file, std::move(read->manifest)});
    }
    return out;
}

}  // namespace weir::module
