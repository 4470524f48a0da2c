#include "manage/status_source.hpp"

namespace weir::manage {

ModuleStatus describe(const module::Manifest& manifest, const std::filesystem::path& file, const std::string& sha256) {
    ModuleStatus status;
    status.id = manifest.id;
    status.version = manifest.version;
    status.unload = manifest.unload;
    for (const module::Provided& provided : manifest.provides) status.keys.push_back({provided, status.state});
    status.file = file.string();
    status.sha256 = sha256;
    return status;
}

}  // namespace weir::manage
