#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace weir::gateway {

// Says that something in a directory has changed, by inotify. The directory may come, go and be replaced: a thread of
// its own looks every second whether it still is the one that is watched.
class DirectoryWatch {
public:
    // `changed` is called on threads of the watch: after the first look, when the directory appears or goes, and for
    // what happens in it.
    DirectoryWatch(std::filesystem::path directory, std::function<void()> changed);
    ~DirectoryWatch();
    DirectoryWatch(const DirectoryWatch&) = delete;
    DirectoryWatch& operator=(const DirectoryWatch&) = delete;

private:
    struct Identity {
        unsigned long device = 0;
        unsigned long inode = 0;
        bool operator==(const Identity&) const = default;
    };

    void run();
    void follow();
    const std::filesystem::path directory_;
    const std::function<void()> changed_;
    struct Watcher;  // Poco's
    std::unique_ptr<Watcher> watcher_;
    Identity watched_;
    bool looked_ = false;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace weir::gateway
