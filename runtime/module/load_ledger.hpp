#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace weir::module {

// What keeps a gateway from dying of one module again and again: a small file that says which modules (by the SHA-256
// of their bytes) are being loaded, and which are set aside. Who finds in it that a gateway died while it loaded a
// module sets that module aside; one after whose loading gateways died three times in a row before it had served is set
// aside too. What is set aside stays so over restarts, until cleared.
//
// Several gateways may use one file: each holds a lock as long as it lives, so that what a living one is loading is
// never taken for what killed it. Beside the file stand "<file>.lock" and, if need be, "<file>.damaged".
//
// The file is replaced as a whole and survives the death of the process as soon as a call returns; only what is set
// aside is also written to the disk at once. A file that cannot be read or written, or is damaged, is a warning: all
// calls work then, for this process alone, and what they said is written as soon as the file can be. Any thread; calls
// wait for the file, at most 5 seconds for another gateway.
class LoadLedger {
public:
    // How long a module should serve before served() is called.
    static constexpr std::chrono::seconds kProvenAfter{30};

    // Nothing is created before the first begin() or setAside(). `path` empty: no file at all.
    static std::unique_ptr<LoadLedger> open(std::filesystem::path path);
    // extPlugin.ledger's default.
    static std::filesystem::path defaultPath(const std::filesystem::path& extensions) {
        return extensions / ".weir-ledger";
    }
    ~LoadLedger();
    LoadLedger(const LoadLedger&) = delete;
    LoadLedger& operator=(const LoadLedger&) = delete;

    struct SetAside {
        std::string hash;
        std::string reason;
        bool operator==(const SetAside&) const = default;
    };
    // Those that open() set aside: say them once.
    const std::vector<SetAside>& suspects() const { return suspects_; }
    std::vector<SetAside> setAsides();
    // Why these bytes are set aside, by whichever gateway; nullopt: they are not.
    std::optional<std::string> reasonOf(std::string_view hash);

    // Before the first code of the module runs in this process.
    void begin(const std::string& hash, const std::filesystem::path& file);
    // It is loaded, or failed to load: this process lived through it.
    void done(const std::string& hash);
    // It has proved itself, or is unloaded: what happens from now on is not laid at its door.
    void served(const std::string& hash);
    // The process stops properly. What is still being loaded hangs, and is a suspect at the next start.
    void servedAll();

    // Ends what begin() began, too.
    void setAside(const std::string& hash, const std::string& reason);
    // False: it was not set aside.
    bool clear(const std::string& hash);

    // What went wrong with the file since the last call.
    std::vector<std::string> takeWarnings();

private:
    enum class State { Loading, Loaded, Died, Aside };
    struct Entry {
        State state{};
        std::string hash;
        std::string file;
        std::int64_t owner = 0;  // Loading, Loaded: the byte of the lock file that its gateway holds
        std::int64_t pid = 0;    //   for the reader
        std::int64_t count = 0;  // Died: how often in a row
        std::int64_t time = 0;   // seconds since 1970
        std::string reason;      // Aside

        bool operator==(const Entry&) const = default;
    };
    using Entries = std::vector<Entry>;
    enum class Sync { No, Yes };
    class Format;

    explicit LoadLedger(std::filesystem::path path);
    void update(Sync sync, const std::function<void(Entries&)>& change);
    base::Result<void> lock();
    void unlock();
    base::Result<void> openLock();
    bool isAlive(std::int64_t owner) const;
    base::Result<void> refresh();
    void refreshOrReset(base::Result<void>& outcome, bool locked);
    void addOwn(Entries& entries) const;
    base::Result<Entries> read() const;
    base::Result<void> write(const Entries& entries, Sync sync) const;
    void judgeDead(Entries& entries);
    static void prune(Entries& entries);
    void warnOnce(const base::Result<void>& outcome);

    const std::filesystem::path path_;
    const std::int64_t owner_;  // this gateway's; see Entry
    std::mutex mutex_;
    Entries entries_;       // as last seen
    bool unsaved_ = false;  // what this process said is not in the file
    std::set<std::string> cleared_;  // of that
    bool failing_ = false;  // it was said that the file cannot be used
    int lockFile_ = -1;
    std::vector<SetAside> suspects_;
    std::vector<std::string> warnings_;
};

}  // namespace weir::module
