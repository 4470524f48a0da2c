#include "support/temp_directory.hpp"

#include <stdlib.h>

#include <fstream>
#include <stdexcept>

namespace weir::support {

TempDirectory::TempDirectory() {
    auto pattern = (std::filesystem::temp_directory_path() / "weir-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory: " + pattern);
    path_ = pattern;
}

TempDirectory::~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempDirectory::write(const std::filesystem::path& name, std::string_view text) const {
    auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
    return file;
}

}  // namespace weir::support
