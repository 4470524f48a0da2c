#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "module/manifest.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// A module's file, read whole and checked: what a later write to the same path does is of no concern.
struct ModuleFile {
    std::string bytes;
    Manifest manifest;
    std::optional<std::string> signature{};  // that came with the bytes, 64 bytes; else it lies beside them
};

// Whether a directory's entry is looked at as a module: *.so, dot files not.
bool isModuleName(const std::filesystem::path& file);

// Reads a regular file (symlinks are followed) of at most 512 MiB; nothing is loaded or run.
base::Result<ModuleFile, Refusal> readModuleFile(const std::filesystem::path& path);
// The same for bytes that came another way.
base::Result<ModuleFile, Refusal> parseModule(std::string bytes);

struct FoundModule {
    std::filesystem::path file;
    Manifest manifest;
};

struct FoundModules {
    std::vector<FoundModule> modules;   // by file name; ids are unique
    std::vector<base::Error> problems;  // files that are no module, a second file with one id, an unreadable directory
};

// Every *.so directly in `directory`, dot files not.
FoundModules findModules(const std::filesystem::path& directory);

}  // namespace weir::module
