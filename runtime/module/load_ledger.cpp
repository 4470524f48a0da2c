#include "module/load_ledger.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "base/digest.hpp"
#include "base/utc_time.hpp"
#include "base/value.hpp"

namespace weir::module {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorCode;
using base::Result;
using base::Value;

namespace {

constexpr std::int64_t kDeathsInARow = 3;
constexpr std::size_t kMaxEntries = 256;
constexpr std::size_t kMaxReasonBytes = 1000;
constexpr std::size_t kMaxFileBytes = 4ul * 1024 * 1024;
constexpr std::chrono::seconds kLockWait{5};
constexpr std::string_view kSumLine = "sha256 ";
constexpr off_t kWholeFile = 0;  // the byte of the lock file that stands for the ledger; others stand for gateways

Error failed(const fs::path& path, const char* what, int number) {
    return {ErrorCode::Io, path.string(), std::string(what) + ": " + std::strerror(number)};
}

// Open file description locks: they end with the process whatever its pid, and see other pid namespaces.
int lockByte(int file, int command, off_t byte, short& type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = byte;
    lock.l_len = 1;
    const int done = ::fcntl(file, command, &lock);
    type = lock.l_type;
    return done;
}

bool setLock(int file, off_t byte, short type) { return lockByte(file, F_OFD_SETLK, byte, type) == 0; }

// Two gateways that choose the same one would have to meet among 2^61.
std::int64_t chooseOwner() {
    std::random_device random;
    return static_cast<std::int64_t>((std::uint64_t{random()} << 32 | random()) >> 3) + 1;
}

std::int64_t now() { return static_cast<std::int64_t>(std::time(nullptr)); }

}  // namespace

// The file's text: JSON and a line with its checksum.
class LoadLedger::Format {
public:
    static std::string write(const Entries& entries) {
        std::string text = "{\"version\":1,\"entries\":[";
        const char* separator = "\n";
        for (const Entry& entry : entries) {
            text += separator + base::toJson(toValue(entry));
            separator = ",\n";
        }
        text += "\n]}\n";
        return text + std::string(kSumLine) + base::sha256Hex(text) + "\n";
    }

    static Result<Entries> read(std::string_view text) {
        const std::size_t sumLength = kSumLine.size() + 64 + 1;
        if (text.size() < sumLength) return damaged("it is too short");
        const std::string_view body = text.substr(0, text.size() - sumLength);
        if (text.substr(body.size()) != std::string(kSumLine) + base::sha256Hex(body) + "\n")
            return damaged("its checksum is not that of its content");
        const auto tree = base::parseJson(body);
        if (!tree) return tree.error();
        const Value* list = tree->find("entries");
        if (textOf(*tree, "version") != "1" || list == nullptr || !list->isArray())
            return damaged("it has another layout than version 1");
        Entries entries;
        for (const Value& item : list->items()) {
            const auto state = std::ranges::find(kStates, textOf(item, "state"));
            if (state == kStates.end() || textOf(item, "hash").empty()) return damaged("it has an unknown entry");
            entries.push_back({static_cast<State>(state - kStates.begin()), textOf(item, "hash"), textOf(item, "file"),
                               numberOf(item, "owner"), numberOf(item, "pid"), numberOf(item, "count"),
                               numberOf(item, "time"), textOf(item, "reason")});
        }
        return entries;
    }

private:
    static constexpr std::array<std::string_view, 4> kStates = {"loading", "loaded", "died", "aside"};  // State

    static Error damaged(std::string message) { return {ErrorCode::Protocol, "", std::move(message)}; }

    static Value toValue(const Entry& entry) {
        Value value = Value::object();
        const auto text = [&](const char* key, std::string_view content) {
            if (!content.empty()) value.set(key, Value::scalar(std::string(content), true));
        };
        const auto number = [&](const char* key, std::int64_t content) {
            if (content != 0) value.set(key, Value::scalar(std::to_string(content), false));
        };
        text("state", kStates[static_cast<std::size_t>(entry.state)]);
        text("hash", entry.hash);
        text("file", entry.file);
        number("owner", entry.owner);
        number("pid", entry.pid);
        number("count", entry.count);
        number("time", entry.time);
        text("reason", entry.reason);
        return value;
    }
    static std::string textOf(const Value& item, std::string_view key) {
        const Value* value = item.find(key);
        return value ? value->text() : "";
    }
    static std::int64_t numberOf(const Value& item, std::string_view key) {
        const Value* value = item.find(key);
        return value ? value->toInt().value_or(0) : 0;
    }
};

LoadLedger::LoadLedger(fs::path path) : path_(std::move(path)), owner_(chooseOwner()) {}

std::unique_ptr<LoadLedger> LoadLedger::open(fs::path path) {
    std::unique_ptr<LoadLedger> ledger(new LoadLedger(std::move(path)));
    std::error_code unknown;
    if (!ledger->path_.empty() && (fs::exists(ledger->path_, unknown) || unknown))
        ledger->update(Sync::Yes, [&](Entries& entries) { ledger->judgeDead(entries); });
    return ledger;
}

LoadLedger::~LoadLedger() {
    if (lockFile_ >= 0) ::close(lockFile_);
}

// The entries of gateways that are no more. Where one died while it loaded something, that is the reason, and not what
// it had loaded before.
void LoadLedger::judgeDead(Entries& entries) {
    Entries dead;
    std::erase_if(entries, [&](const Entry& entry) {
        const bool runs = entry.state == State::Loading || entry.state == State::Loaded;
        if (!runs || isAlive(entry.owner)) return false;
        dead.push_back(entry);
        return true;
    });
    const auto suspect = [&](const Entry& entry, const std::string& reason) {
        std::erase_if(entries, [&](const Entry& each) {
            return each.hash == entry.hash && (each.state == State::Died || each.state == State::Aside);
        });
        entries.push_back({State::Aside, entry.hash, entry.file, 0, 0, 0, now(), reason});
        suspects_.push_back({entry.hash, reason});
    };
    for (const Entry& entry : dead) {
        if (entry.state == State::Loading) {
            suspect(entry, "a gateway (process " + std::to_string(entry.pid) + ") died while it loaded " + entry.file +
                               ", at " + base::isoTime(entry.time));
            continue;
        }
        const auto isCulprit = [&](const Entry& each) {
            return each.state == State::Loading && each.owner == entry.owner;
        };
        if (std::ranges::any_of(dead, isCulprit)) continue;
        auto died = std::ranges::find_if(
            entries, [&](const Entry& each) { return each.state == State::Died && each.hash == entry.hash; });
        if (died == entries.end()) died = entries.insert(died, {State::Died, entry.hash, entry.file, 0, 0, 0, 0, ""});
        died->count += 1;
        died->time = now();
        if (died->count >= kDeathsInARow) {
            suspect(entry, std::to_string(kDeathsInARow) + " times in a row a gateway died soon after it had loaded " +
                               entry.file + ", the last time at " + base::isoTime(entry.time) + " or later");
        }
    }
}

void LoadLedger::begin(const std::string& hash, const fs::path& file) {
    update(Sync::No, [&](Entries& entries) {
        std::erase_if(entries, [&](const Entry& each) { return each.owner == owner_ && each.hash == hash; });
        entries.push_back({State::Loading, hash, file.string(), owner_, ::getpid(), 0, now(), ""});
    });
}

void LoadLedger::done(const std::string& hash) {
    update(Sync::No, [&](Entries& entries) {
        for (Entry& each : entries)
            if (each.owner == owner_ && each.hash == hash && each.state == State::Loading) each.state = State::Loaded;
    });
}

void LoadLedger::served(const std::string& hash) {
    update(Sync::No, [&](Entries& entries) {
        std::erase_if(entries, [&](const Entry& each) {
            return each.hash == hash && (each.state == State::Died || each.owner == owner_);
        });
    });
}

void LoadLedger::servedAll() {
    update(Sync::No, [&](Entries& entries) {
        Entries mine;
        const auto isMine = [&](const Entry& each) { return each.owner == owner_ && each.state == State::Loaded; };
        std::ranges::copy_if(entries, std::back_inserter(mine), isMine);
        std::erase_if(entries, [&](const Entry& each) {
            const auto sameHash = [&](const Entry& other) { return other.hash == each.hash; };
            return isMine(each) || (each.state == State::Died && std::ranges::any_of(mine, sameHash));
        });
    });
}

void LoadLedger::setAside(const std::string& hash, const std::string& reason) {
    update(Sync::Yes, [&](Entries& entries) {
        std::erase_if(entries, [&](const Entry& each) {
            const bool others = each.state == State::Loading || each.state == State::Loaded;
            return each.hash == hash && (!others || each.owner == owner_);
        });
        entries.push_back({State::Aside, hash, "", 0, 0, 0, now(), reason.substr(0, kMaxReasonBytes)});
        cleared_.erase(hash);
    });
}

bool LoadLedger::clear(const std::string& hash) {
    bool found = false;
    update(Sync::Yes, [&](Entries& entries) {
        std::erase_if(entries, [&](const Entry& each) {
            if (each.hash != hash || (each.state != State::Aside && each.state != State::Died)) return false;
            found = found || each.state == State::Aside;
            return true;
        });
        cleared_.insert(hash);
    });
    return found;
}

std::vector<LoadLedger::SetAside> LoadLedger::setAsides() {
    const std::lock_guard guard(mutex_);
    // Without the lock: the file is replaced as a whole. What is wrong with it, update() says.
    if (!path_.empty()) (void)refresh();
    std::vector<SetAside> aside;
    for (const Entry& entry : entries_)
        if (entry.state == State::Aside) aside.push_back({entry.hash, entry.reason});
    return aside;
}

std::optional<std::string> LoadLedger::reasonOf(std::string_view hash) {
    for (SetAside& each : setAsides())
        if (each.hash == hash) return std::move(each.reason);
    return std::nullopt;
}

std::vector<std::string> LoadLedger::takeWarnings() {
    const std::lock_guard guard(mutex_);
    return std::exchange(warnings_, {});
}

// Of those that only tell, the oldest go; what is running is bounded by what runs.
void LoadLedger::prune(Entries& entries) {
    while (entries.size() > kMaxEntries) {
        const auto oldest = std::ranges::find_if(
            entries, [](const Entry& each) { return each.state == State::Died || each.state == State::Aside; });
        if (oldest == entries.end()) return;
        entries.erase(oldest);
    }
}

// Changes what the file says now. Without the file, what was last known.
void LoadLedger::update(Sync sync, const std::function<void(Entries&)>& change) {
    const std::lock_guard guard(mutex_);
    if (path_.empty()) {
        change(entries_);
        return prune(entries_);
    }
    auto outcome = lock();
    const bool locked = outcome.ok();
    refreshOrReset(outcome, locked);
    const Entries before = entries_;
    change(entries_);
    prune(entries_);
    if (outcome && (unsaved_ || entries_ != before)) outcome = write(entries_, sync);
    unsaved_ = !outcome.ok() && (unsaved_ || entries_ != before);
    if (!unsaved_) cleared_.clear();
    if (locked) unlock();
    warnOnce(outcome);
}

// What the file says, and on top of it what this process said while it could not be written.
Result<void> LoadLedger::refresh() {
    auto entries = read();
    if (!entries) return std::move(entries).error();
    if (unsaved_) addOwn(*entries);
    entries_ = std::move(entries).value();
    return {};
}

// A damaged file makes room for what this process knows.
void LoadLedger::refreshOrReset(Result<void>& outcome, bool locked) {
    const auto refreshed = refresh();
    if (refreshed || !locked) return;
    if (refreshed.error().code != ErrorCode::Protocol) {
        outcome = refreshed;
        return;
    }
    const std::string aside = path_.string() + ".damaged";
    if (::rename(path_.c_str(), aside.c_str()) != 0) {
        outcome = failed(path_, "is damaged and cannot be renamed", errno);
        return;
    }
    warnings_.push_back(path_.string() + " is damaged and ignored: " + refreshed.error().message + "; it is now " +
                        aside);
    Entries entries;
    addOwn(entries);
    entries_ = std::move(entries);
    unsaved_ = true;
}

void LoadLedger::addOwn(Entries& entries) const {
    std::erase_if(entries, [&](const Entry& each) {
        const bool tells = each.state == State::Died || each.state == State::Aside;
        return each.owner == owner_ || (tells && cleared_.contains(each.hash));
    });
    for (const Entry& entry : entries_) {
        const auto isSame = [&](const Entry& each) { return each.state == entry.state && each.hash == entry.hash; };
        const bool wanted = entry.owner == owner_ ||
                            (entry.state == State::Aside && std::ranges::none_of(entries, isSame));
        if (wanted) entries.push_back(entry);
    }
}

void LoadLedger::warnOnce(const Result<void>& outcome) {
    if (!outcome && !failing_) {
        warnings_.push_back(outcome.error().text() + "; which modules are set aside, or were being loaded when the "
                            "gateway died, is not remembered over a restart (extPlugin.ledger names another file)");
    }
    failing_ = !outcome.ok();
}

Result<void> LoadLedger::openLock() {
    const fs::path file = path_.string() + ".lock";
    const int opened = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
    if (opened < 0) return failed(file, "cannot be opened", errno);
    if (!setLock(opened, owner_, F_WRLCK)) {
        const int number = errno;
        ::close(opened);
        return failed(file, "cannot be locked", number);
    }
    lockFile_ = opened;
    return {};
}

Result<void> LoadLedger::lock() {
    if (lockFile_ < 0) {
        if (auto opened = openLock(); !opened) return opened;
    }
    // With a limit: whoever holds it may have been stopped.
    const auto deadline = std::chrono::steady_clock::now() + kLockWait;
    while (!setLock(lockFile_, kWholeFile, F_WRLCK)) {
        if (errno != EAGAIN && errno != EACCES) return failed(path_, "cannot be locked", errno);
        if (std::chrono::steady_clock::now() > deadline)
            return Error{ErrorCode::Io, path_.string(), "another gateway holds its lock for too long"};
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return {};
}

void LoadLedger::unlock() { setLock(lockFile_, kWholeFile, F_UNLCK); }

// Also when it cannot be told.
bool LoadLedger::isAlive(std::int64_t owner) const {
    if (owner == owner_ || lockFile_ < 0) return true;
    short type = F_WRLCK;
    return lockByte(lockFile_, F_OFD_GETLK, owner, type) != 0 || type != F_UNLCK;
}

// An error with the code Protocol: it is damaged.
Result<LoadLedger::Entries> LoadLedger::read() const {
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno == ENOENT) return Entries{};
    if (file < 0) return failed(path_, "cannot be opened", errno);
    std::string text;
    std::array<char, 16384> part;
    ssize_t got = 0;
    do {
        got = ::read(file, part.data(), part.size());
        if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
    } while ((got > 0 && text.size() <= kMaxFileBytes) || (got < 0 && errno == EINTR));
    const int number = errno;
    ::close(file);
    if (got < 0) return failed(path_, "cannot be read", number);
    if (text.size() > kMaxFileBytes) return Error{ErrorCode::Protocol, "", "it is too large"};
    auto entries = Format::read(text);
    if (entries) return entries;
    return Error{ErrorCode::Protocol, "", entries.error().text()};
}

Result<void> LoadLedger::write(const Entries& entries, Sync sync) const {
    const fs::path fresh = path_.string() + ".new";
    const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0664);
    if (file < 0) return failed(fresh, "cannot be written", errno);
    const std::string text = Format::write(entries);
    int failure = 0;
    for (std::size_t done = 0; failure == 0 && done < text.size();) {
        const ssize_t put = ::write(file, text.data() + done, text.size() - done);
        if (put >= 0) done += static_cast<std::size_t>(put);
        else if (errno != EINTR) failure = errno;
    }
    if (failure == 0 && sync == Sync::Yes && ::fdatasync(file) != 0) failure = errno;
    if (::close(file) != 0 && failure == 0) failure = errno;
    if (failure == 0 && ::rename(fresh.c_str(), path_.c_str()) != 0) failure = errno;
    if (failure == 0) return {};
    ::unlink(fresh.c_str());
    return failed(path_, "cannot be written", failure);
}

}  // namespace weir::module
