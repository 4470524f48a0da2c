#include "module/ext_directory.hpp"

#include <thread>

#include "base/digest.hpp"
#include "module/module_trust.hpp"

namespace weir::module {

namespace fs = std::filesystem;

namespace {
bool sameTime(const timespec& a, const timespec& b) { return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec; }
}  // namespace

bool ExtDirectory::StatKey::operator==(const StatKey& other) const {
    return device == other.device && inode == other.inode && size == other.size && sameTime(modified, other.modified) &&
           sameTime(changed, other.changed) && sameSignature(other);
}

bool ExtDirectory::StatKey::sameSignature(const StatKey& other) const { return sameTime(signed_, other.signed_); }

void ExtDirectory::forget(const fs::path& file) {
    if (const auto known = known_.find(file); known != known_.end()) known->second = {};
}

bool ExtDirectory::look(const fs::path& file, StatKey& key) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return false;
    key = {status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim, {}};
    if (::stat(signatureOf(file).c_str(), &status) == 0) key.signed_ = status.st_ctim;
    return true;
}

base::Result<std::map<fs::path, ExtDirectory::StatKey>> ExtDirectory::list() const {
    std::map<fs::path, StatKey> present;
    std::error_code failure;
    for (fs::directory_iterator it(directory_, failure), end; !failure && it != end; it.increment(failure)) {
        StatKey key;
        if (isModuleName(it->path()) && look(it->path(), key)) present.emplace(it->path(), key);
    }
    if (failure) return base::Error{base::ErrorCode::Io, directory_.string(), failure.message()};
    return present;
}

ExtDirectory::Changes ExtDirectory::scan() {
    Changes changes;
    auto present = list();
    if (!present.ok()) {
        // Never there is nothing to say about; vanished is.
        if (!known_.empty()) changes.alarm = present.error().text() + "; its modules run on";
        return changes;
    }
    for (const auto& [file, key] : *present) changes.present.insert(file);
    findGone(*present, changes);
    std::map<fs::path, StatKey> candidates;
    for (const auto& [file, key] : *present) {
        const auto known = known_.find(file);
        if (known == known_.end() || !(known->second.key == key)) candidates.emplace(file, key);
    }
    if (candidates.empty()) return changes;
    std::this_thread::sleep_for(settle_);
    for (const auto& [file, key] : candidates) read(file, key, changes);
    return changes;
}

void ExtDirectory::read(const fs::path& file, const StatKey& key, Changes& changes) {
    StatKey now;
    if (!look(file, now)) return;  // gone again
    if (!(now == key)) return changes.unsettled.push_back(file);
    auto module = readModuleFile(file);
    if (!look(file, now) || !(now == key)) return changes.unsettled.push_back(file);
    const auto known = known_.find(file);
    if (!module.ok()) {
        known_[file].key = key;  // the hash of what runs stays: the same good bytes again are no change
        return changes.refused.push_back({file, std::move(module).error()});
    }
    std::string hash = base::sha256Hex(module->bytes);
    if (known != known_.end() && known->second.hash == hash && known->second.key.sameSignature(key)) {
        known->second.key = key;
        return;
    }
    known_[file] = {key, hash};
    changes.changed.push_back({file, std::move(hash), std::move(module).value()});
}

void ExtDirectory::findGone(const std::map<fs::path, StatKey>& present, Changes& changes) {
    std::vector<fs::path> gone;
    std::size_t modulesGone = 0;
    std::size_t modulesLeft = 0;
    for (const auto& [file, known] : known_) {
        const bool there = present.contains(file);
        if (!there) gone.push_back(file);
        if (!known.hash.empty()) ++(there ? modulesLeft : modulesGone);
    }
    if (modulesGone >= 2 && modulesLeft == 0) {
        changes.alarm = directory_.string() + ": all " + std::to_string(modulesGone) +
                        " modules vanished at once; they run on until one of them comes back or the gateway restarts";
        return;
    }
    for (const fs::path& file : gone) {
        const bool ran = !known_[file].hash.empty();
        known_.erase(file);
        if (ran) changes.gone.push_back(file);
    }
}

}  // namespace weir::module
