#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::data {

// What the system says of a file without reading it; two keys differ when the file was written or is another one.
// Links are followed; all zeros: no such file.
struct FileKey {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified = 0;  // nanoseconds
    std::int64_t changed = 0;   // nanoseconds; of the status: it moves with owner and mode too

    static FileKey of(const std::filesystem::path& file);
    bool operator==(const FileKey&) const = default;
};

// The files that one load of a configuration read, up to its first mistake: as long as they have the same content, it
// comes to the same end. Blocks; any thread.
struct SourceFiles {
    struct File {
        FileKey key;         // from before it was read
        std::string digest;  // SHA-256 of what was read; empty: it could not be
    };
    using Keys = std::map<std::filesystem::path, FileKey>;

    std::map<std::filesystem::path, File> files;
    std::vector<std::string> patterns;  // of `include`, for glob(3)

    bool sameContent(const SourceFiles& other) const;
    Keys keysThen() const;
    // Of the same files and of all that the patterns match now.
    Keys keysNow() const;
    // Where files have to come, go and change for keysNow() to change; a file that is a link counts in both places.
    std::set<std::filesystem::path> directories() const;
};

// The names that a pattern matches, in order.
std::vector<std::string> globFiles(const std::string& pattern);

}  // namespace weir::data
