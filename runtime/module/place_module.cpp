#include "module/place_module.hpp"

#include <sys/types.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "base/replace_file.hpp"
#include "module/module_trust.hpp"

namespace weir::module {

namespace fs = std::filesystem;

namespace {

constexpr mode_t kMode = 0644;

// nullopt: there is none.
base::Result<std::optional<std::string>> contentOf(const fs::path& file) {
    std::error_code unknown;
    if (!fs::exists(file, unknown) && !unknown) return std::optional<std::string>();
    std::ifstream in(file, std::ios::binary);
    std::ostringstream content;
    if (in.peek() != std::ifstream::traits_type::eof()) content << in.rdbuf();
    if (!in.is_open() || in.bad() || content.fail())
        return base::Error{base::ErrorCode::Io, file.string(), "cannot be read"};
    return std::optional(std::move(content).str());
}

base::Result<void> restore(const fs::path& file, const std::optional<std::string>& content) {
    if (const auto now = contentOf(file); now.ok() && *now == content) return {};
    if (content) return base::replaceFile(file, *content, kMode);
    std::error_code failure;
    fs::remove(file, failure);
    if (!failure) return {};
    return base::Error{base::ErrorCode::Io, file.string(), "cannot be removed: " + failure.message()};
}

}  // namespace

base::Result<ReplacedModule> placeModule(const fs::path& file, const ModuleFile& module) {
    const fs::path beside = signatureOf(file);
    auto bytes = contentOf(file);
    if (!bytes.ok()) return std::move(bytes).error();
    auto signature = contentOf(beside);
    if (!signature.ok()) return std::move(signature).error();
    base::Result<void> written;
    if (module.signature) written = base::replaceFile(beside, *module.signature, kMode);
    if (written.ok()) written = base::replaceFile(file, module.bytes, kMode);
    if (written.ok()) return ReplacedModule{std::move(bytes).value(), std::move(signature).value()};
    base::Error error = written.error();
    if (const auto restored = restore(beside, *signature); !restored.ok())
        error.message += "; " + restored.error().text();
    return error;
}

base::Result<void> putBack(const fs::path& file, const ReplacedModule& before) {
    auto bytes = restore(file, before.bytes);
    auto signature = restore(signatureOf(file), before.signature);
    return bytes.ok() ? std::move(signature) : std::move(bytes);
}

}  // namespace weir::module
