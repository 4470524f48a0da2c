#pragma once

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "module/module_file.hpp"

namespace weir::module {

// The directory that extension modules are dropped into: what is new, other or gone since the last look. A change is
// told by content: the stat key only saves reading. Control thread; scan() blocks for the settle time when something
// changed.
class ExtDirectory {
public:
    // `settle`: a file must look the same twice, so far apart, before it is read; who is still copying is waited for.
    ExtDirectory(std::filesystem::path directory, std::chrono::milliseconds settle)
        : directory_(std::move(directory)), settle_(settle) {}

    const std::filesystem::path& path() const { return directory_; }

    struct Changed {
        std::filesystem::path file;
        std::string hash;  // SHA-256 of the bytes, hex
        ModuleFile module;
    };
    struct Refused {
        std::filesystem::path file;
        Refusal refusal;
    };
    struct Changes {
        std::vector<Changed> changed;                // by file name
        std::vector<std::filesystem::path> gone;
        std::vector<Refused> refused;                // not a module (yet): whatever ran under that name runs on
        std::vector<std::filesystem::path> unsettled;  // still being written: scan again soon
        std::set<std::filesystem::path> present;     // all files that are looked at
        std::string alarm;                           // why nothing is taken for gone although it is not there; "" else
    };
    // Looks at every *.so directly in the directory, symlinks followed, dot files not. A directory that was never there
    // is empty; one that vanishes, or loses two modules or more at once with none left, is an alarm and no removal.
    Changes scan();
    // The next look finds it changed, whatever it is.
    void forget(const std::filesystem::path& file);

private:
    struct StatKey {
        dev_t device = 0;
        ino_t inode = 0;
        off_t size = 0;
        timespec modified{};
        timespec changed{};

        timespec signed_{};  // when its signature changed last

        bool operator==(const StatKey& other) const;
        bool sameSignature(const StatKey& other) const;
    };
    struct Known {
        StatKey key;
        std::string hash;  // "": refused
    };

    static bool look(const std::filesystem::path& file, StatKey& key);
    base::Result<std::map<std::filesystem::path, StatKey>> list() const;
    void read(const std::filesystem::path& file, const StatKey& key, Changes& changes);
    void findGone(const std::map<std::filesystem::path, StatKey>& present, Changes& changes);

    const std::filesystem::path directory_;
    const std::chrono::milliseconds settle_;
    std::map<std::filesystem::path, Known> known_;
};

}  // namespace weir::module
