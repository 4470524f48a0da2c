#include "data/source_files.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <system_error>

namespace weir::data {

namespace fs = std::filesystem;

namespace {

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec; }

fs::path directoryOf(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

}  // namespace

FileKey FileKey::of(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

bool SourceFiles::sameContent(const SourceFiles& other) const {
    if (files.size() != other.files.size()) return false;
    for (auto a = files.begin(), b = other.files.begin(); a != files.end(); ++a, ++b) {
        if (a->first != b->first || a->second.digest != b->second.digest) return false;
    }
    return true;
}

SourceFiles::Keys SourceFiles::keysThen() const {
    Keys keys;
    for (const auto& [path, file] : files) keys.emplace(path, file.key);
    return keys;
}

SourceFiles::Keys SourceFiles::keysNow() const {
    Keys keys;
    for (const auto& [path, file] : files) keys.emplace(path, FileKey::of(path));
    for (const std::string& pattern : patterns) {
        for (const std::string& path : globFiles(pattern)) keys.try_emplace(path, FileKey::of(path));
    }
    return keys;
}

std::set<fs::path> SourceFiles::directories() const {
    std::set<fs::path> directories;
    for (const auto& [path, key] : keysNow()) {
        directories.insert(directoryOf(path));
        std::error_code ignored;
        const fs::path target = fs::canonical(path, ignored);
        if (!target.empty()) directories.insert(directoryOf(target));
    }
    for (const std::string& pattern : patterns) {
        for (const std::string& directory : globFiles(directoryOf(pattern))) directories.insert(directory);
    }
    return directories;
}

std::vector<std::string> globFiles(const std::string& pattern) {
    std::vector<std::string> files;
    glob_t found{};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return files;
}

}  // namespace weir::data
