#include "gateway/directory_watch.hpp"

#include <sys/stat.h>

#include <array>

#include <Poco/Delegate.h>
#include <Poco/DirectoryWatcher.h>

#include "base/log.hpp"

namespace weir::gateway {

namespace {
constexpr std::chrono::seconds kLook{1};
}

struct DirectoryWatch::Watcher {
    Watcher(const std::string& path, const std::function<void()>& call) : changed(call), poco(path) {
        for (auto* event : events()) *event += Poco::delegate(this, &Watcher::onEvent);
    }
    ~Watcher() {
        for (auto* event : events()) *event -= Poco::delegate(this, &Watcher::onEvent);
    }

    std::array<Poco::BasicEvent<const Poco::DirectoryWatcher::DirectoryEvent>*, 5> events() {
        return {&poco.itemAdded, &poco.itemRemoved, &poco.itemModified, &poco.itemMovedFrom, &poco.itemMovedTo};
    }
    void onEvent(const Poco::DirectoryWatcher::DirectoryEvent&) { changed(); }

    const std::function<void()>& changed;
    Poco::DirectoryWatcher poco;
};

DirectoryWatch::DirectoryWatch(std::filesystem::path directory, std::function<void()> changed)
    : directory_(std::move(directory)), changed_(std::move(changed)), thread_([this] { run(); }) {}

DirectoryWatch::~DirectoryWatch() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void DirectoryWatch::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        lock.unlock();
        follow();
        lock.lock();
        wake_.wait_for(lock, kLook, [this] { return stopping_; });
    }
    lock.unlock();
    watcher_.reset();
}

// Watches what stands under the path now.
void DirectoryWatch::follow() {
    struct stat status {};
    const bool there = ::stat(directory_.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
    const Identity now = there ? Identity{status.st_dev, status.st_ino} : Identity{};
    if (now == watched_ && looked_) return;
    looked_ = true;  // the first time, whatever is there: it may be other than what the caller has seen
    watcher_.reset();
    watched_ = {};
    if (there) {
        try {
            watcher_ = std::make_unique<Watcher>(directory_.string(), changed_);
            watched_ = now;
        } catch (const Poco::Exception& e) {  // tried again at the next look; the periodic scan goes on meanwhile
            base::logWarning("extPlugin: " + directory_.string() + " can not be watched: " + e.displayText());
        }
    }
    changed_();
}

}  // namespace weir::gateway
