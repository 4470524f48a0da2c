#include "config/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace weir::config {

base::Result<std::string> readTextFile(const std::filesystem::path& path) {
    auto failed = [&] {
        return base::Error{base::ErrorCode::Io, path.string(), std::string("cannot be read: ") + std::strerror(errno)};
    };
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) return failed();
    std::string text;
    char part[65536];
    while (std::size_t size = std::fread(part, 1, sizeof part, file.get())) text.append(part, size);
    if (std::ferror(file.get())) return failed();
    return text;
}

}  // namespace weir::config
