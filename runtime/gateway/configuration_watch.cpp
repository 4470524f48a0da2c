#include "gateway/configuration_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/log.hpp"

namespace weir::gateway {

namespace {

constexpr std::chrono::milliseconds kLook{1000};
constexpr std::chrono::milliseconds kSettle{150};  // between two looks at something new
constexpr std::chrono::milliseconds kDelay{20};    // one look for all events of one change

// A write is reported when the file is closed: an open log in the same directory does not wake us at every line.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVE | IN_DELETE_SELF |
                                  IN_MOVE_SELF | IN_ONLYDIR;

// Reads all that is there; what it says is seen by looking.
void drain(int descriptor) {
    std::array<char, 4096> bytes;
    while (::read(descriptor, bytes.data(), bytes.size()) > 0) {
    }
}

}  // namespace

ConfigurationWatch::ConfigurationWatch(data::SourceFiles read, std::function<void()> changed)
    : changed_(std::move(changed)),
      files_(std::move(read)),
      inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this, reported = files_.keysThen()] { run(reported); }) {
    if (inotify_ < 0) base::logWarning("configuration: no inotify instance is left; changes are seen within a second");
}

ConfigurationWatch::~ConfigurationWatch() {
    stopping_ = true;
    eventfd_write(wake_, 1);
    thread_.join();
    if (inotify_ >= 0) ::close(inotify_);
    ::close(wake_);
}

void ConfigurationWatch::follow(data::SourceFiles read) {
    {
        const std::lock_guard lock(mutex_);
        files_ = std::move(read);
    }
    eventfd_write(wake_, 1);
}

void ConfigurationWatch::run(data::SourceFiles::Keys reported) {
    data::SourceFiles::Keys before;
    while (!stopping_) {
        data::SourceFiles files;
        {
            const std::lock_guard lock(mutex_);
            files = files_;
        }
        watch(files.directories());  // first: what happens after the look is an event
        data::SourceFiles::Keys now = files.keysNow();
        if (now != reported && now == before) {
            reported = now;
            changed_();
        }
        const bool settled = now == reported;
        before = std::move(now);
        if (!settled) wait(kSettle, false);
        else if (wait(kLook, true)) wait(kDelay, false);
    }
}

// Watches these and no others. What stands under a name may be another directory than at the last look.
void ConfigurationWatch::watch(const std::set<std::filesystem::path>& directories) {
    if (inotify_ < 0) return;
    std::set<int> watches;
    for (const std::filesystem::path& directory : directories) {
        const int watch = inotify_add_watch(inotify_, directory.c_str(), kEvents);
        if (watch >= 0) watches.insert(watch);
    }
    for (const int old : watches_) {
        if (!watches.contains(old)) inotify_rm_watch(inotify_, old);
    }
    watches_ = std::move(watches);
}

// Until the time is over, something happens in a directory (if `events`), or somebody wakes it: whether it was woken.
bool ConfigurationWatch::wait(std::chrono::milliseconds time, bool events) {
    std::array<pollfd, 2> descriptors{pollfd{wake_, POLLIN, 0}, pollfd{events ? inotify_ : -1, POLLIN, 0}};
    const bool woken = ::poll(descriptors.data(), descriptors.size(), static_cast<int>(time.count())) > 0;
    drain(wake_);
    if (inotify_ >= 0) drain(inotify_);
    return woken;
}

}  // namespace weir::gateway
