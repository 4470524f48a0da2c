#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "data/source_files.hpp"

namespace weir::gateway {

// Says that the configuration's files may have new content. A thread of its own looks at them (without reading) every
// second, and at once when inotify reports something in their directories. It reports only what stayed as it is for two
// looks, so that a file which is being written is not read half; other files beside them do not matter.
class ConfigurationWatch {
public:
    // `read` is what the configuration in force was read from, `changed` is called on the watch's thread. It reports by
    // stat: a touched file too, and after follow() perhaps once for nothing.
    ConfigurationWatch(data::SourceFiles read, std::function<void()> changed);
    ~ConfigurationWatch();
    ConfigurationWatch(const ConfigurationWatch&) = delete;
    ConfigurationWatch& operator=(const ConfigurationWatch&) = delete;

    // Any thread. The files were read again: these are watched now.
    void follow(data::SourceFiles read);

private:
    void run(data::SourceFiles::Keys reported);
    void watch(const std::set<std::filesystem::path>& directories);
    bool wait(std::chrono::milliseconds time, bool events);

    const std::function<void()> changed_;
    std::mutex mutex_;
    data::SourceFiles files_;
    std::set<int> watches_;  // inotify's, of the directories
    const int inotify_;      // -1: the system has no more; the look each second goes on
    const int wake_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace weir::gateway
