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

Refusal unreadable(const char* what) {
    return {RefusalCode::Unreadable, "", std::string(what) + ": " + std::strerror(errno), "", ""};
}

Result<std::string, Refusal> readAll(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return unreadable("it cannot be examined");
    if (!S_ISREG(status.st_mode)) {
        return Refusal{RefusalCode::Unreadable, "", "it is not a regular file", "one", "remove it"};
    }
    if (static_cast<std::uint64_t>(status.st_size) > kMaxFileBytes) {
        return Refusal{RefusalCode::TooLarge, "the file's size", std::to_string(status.st_size) + " bytes",
                       "at most " + std::to_string(kMaxFileBytes), "strip it"};
    }
    // A file that grows meanwhile is read up to the size seen first; its own headers tell whether that is enough.
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unreadable("it cannot be read");
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

Result<ModuleFile, Refusal> readModuleFile(const fs::path& path) {
    // O_NONBLOCK: a FIFO put there must not hang the scan.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return unreadable("it cannot be opened");
    auto bytes = readAll(fd);
    ::close(fd);
    if (!bytes) return std::move(bytes).error();
    return parseModule(std::move(bytes).value());
}

Result<ModuleFile, Refusal> parseModule(std::string bytes) {
    const auto note = findManifestNote(bytes);
    if (!note) return note.error();
    auto manifest = parseManifest(*note);
    if (!manifest) return std::move(manifest).error();
    return ModuleFile{std::move(bytes), std::move(*manifest)};
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
            out.problems.push_back(read.error().error(file.string()));
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
