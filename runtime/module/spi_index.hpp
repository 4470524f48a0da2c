#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "module/manifest.hpp"

namespace weir::module {

// One line `key = module` of a file spi/<Interface>.
struct SpiLine {
    std::string interface;
    std::string key;
    std::string module;  // the module's id
    std::string origin;  // "<path>:<line>"
};

// Who serves which key: what META-INF/shenyu is in ShenYu, in one directory beside the modules. A file is named after
// its interface; `#` starts a comment line; blank lines are skipped. Files whose name is not made of letters and digits
// alone (backups, dot files) are not read.
class SpiIndex {
public:
    // Refuses a line that is not `key = module` and a key that stands twice in one file, with origin "<path>:<line>". A
    // directory that does not exist is NotFound.
    static base::Result<SpiIndex> read(const std::filesystem::path& directory);

    const std::vector<SpiLine>& lines() const { return lines_; }
    const SpiLine* find(std::string_view interface, std::string_view key) const;  // null: nobody was chosen

private:
    std::vector<SpiLine> lines_;
};

// Brings `directory` in line with the modules: a line that a module backs stays as it is (an operator may have chosen
// it), one that none backs goes, a key without a line gets one. Comments stay; a file that needs no change is not
// written.
// Refuses what read() refuses, and a new key that two modules offer: someone has to choose.
base::Result<void> updateSpiFiles(const std::filesystem::path& directory, const std::vector<Manifest>& modules);

}  // namespace weir::module
