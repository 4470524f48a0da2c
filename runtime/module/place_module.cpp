#include "module/place_module.hpp"

#include <sys/types.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include "base/replace_file.hpp"
#include "module/module_trust.hpp"

namespace weir::module {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kMode = 0644;

std::optional<std::string> contentOf(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

base::Result<void> placeModule(const fs::path& file, const ModuleFile& module) {
    if (!module.signature) return base::replaceFile(file, module.bytes, kMode);
    const fs::path beside = signatureOf(file);
    const std::optional<std::string> before = contentOf(beside);
    if (auto written = base::replaceFile(beside, *module.signature, kMode); !written.ok()) return written;
    auto written = base::replaceFile(file, module.bytes, kMode);
    if (written.ok()) return written;
    std::error_code ignored;
    if (!before) fs::remove(beside, ignored);
    else if (auto restored = base::replaceFile(beside, *before, kMode); !restored.ok())
        written = base::Error{written.error().code, written.error().origin, written.error().message + "; " +
                              restored.error().text()};
    return written;
}

}  // namespace weir::module
