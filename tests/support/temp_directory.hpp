#pragma once

#include <filesystem>
#include <string_view>

namespace weir::support {

// A directory of its own under the system's temporary one, removed with everything in it at the end.
class TempDirectory {
public:
    TempDirectory();
    ~TempDirectory();
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Writes a file below it, directories included, and returns its full path.
    std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const;

private:
    std::filesystem::path path_;
};

}  // namespace weir::support
