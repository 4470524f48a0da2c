#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "module/module_file.hpp"

namespace weir::module {

// The modules of a directory and who serves which key, from their manifests and `spi/`; nothing is loaded or run.
// Start-up loads what it names, `weir plugin list` prints it.
class ModuleCatalog {
public:
    enum class State {
        Selected,     // spi/<interface> names this module for the key
        NotSelected,  // it names another module, or none
    };

    struct Entry {
        const FoundModule* module;  // both point into modules()
        const Provided* provided;   // interface, key, order, ...
        State state;
    };

    // Looks at every *.so directly in `directory` (dot files not) and at the index files in `spi`. Never fails as a
    // whole: what is wrong is in problems().
    static ModuleCatalog scan(const std::filesystem::path& directory, const std::filesystem::path& spi);
    static ModuleCatalog scan(const std::filesystem::path& directory) { return scan(directory, directory / "spi"); }

    ModuleCatalog(ModuleCatalog&&) = default;
    ModuleCatalog& operator=(ModuleCatalog&&) = default;

    const std::vector<FoundModule>& modules() const { return modules_; }
    // By interface; plugins by order and key, everything else by key; the selected one of a key first.
    const std::vector<Entry>& entries() const { return entries_; }
    // The one that serves the key; null: nobody does.
    const Entry* selected(std::string_view interface, std::string_view key) const;
    // A file that is no module, two files with one id, an unreadable index, a line that no manifest backs. Each is a
    // reason not to start; the catalog holds the rest.
    const std::vector<base::Error>& problems() const { return problems_; }

private:
    ModuleCatalog() = default;
    void resolve(const std::filesystem::path& spiDirectory);

    std::vector<FoundModule> modules_;
    std::vector<Entry> entries_;
    std::vector<base::Error> problems_;
};

// "selected" or "not selected".
std::string_view toText(ModuleCatalog::State state);

}  // namespace weir::module
