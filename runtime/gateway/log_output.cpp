#include "gateway/log_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <Poco/AutoPtr.h>
#include <Poco/Channel.h>
#include <Poco/FormattingChannel.h>
#include <Poco/Logger.h>
#include <Poco/Message.h>
#include <Poco/PatternFormatter.h>

#include "base/log.hpp"

namespace weir::gateway {

namespace {

constexpr const char* kPattern = "%Y-%m-%dT%H:%M:%S.%iZ %p %t";
// From Poco's fatal to its trace.
constexpr const char* kLevels = "error, error, error, warning, notice, info, debug, debug";
constexpr std::size_t kQueued = 100000;  // lines; more are dropped and counted

int openForAppend(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

// Poco's FileChannel must not be closed while another thread logs; this one opens again between two lines, on the
// thread that writes them.
class LineChannel final : public Poco::Channel {
public:
    LineChannel(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}

    void log(const Poco::Message& message) override {
        if (reopen_.exchange(false)) openAgain();
        writeLine(message.getText());
    }
    void reopen() { reopen_ = true; }

private:
    ~LineChannel() override {
        if (!path_.empty()) ::close(fd_);
    }

    void openAgain() {
        if (path_.empty()) return;
        const int opened = openForAppend(path_);
        if (opened < 0) {
            const std::string why = std::generic_category().message(errno);
            base::logError("the log file " + path_.string() + " cannot be opened again, the old one stays: " + why);
            return;
        }
        ::close(fd_);
        fd_ = opened;
    }

    void writeLine(std::string line) {
        line += '\n';
        for (std::size_t done = 0; done < line.size();) {
            const ssize_t written = ::write(fd_, line.data() + done, line.size() - done);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) return;  // nobody is left to tell
            done += static_cast<std::size_t>(written);
        }
    }

    int fd_;
    std::filesystem::path path_;  // empty: standard error
    std::atomic<bool> reopen_{false};
};

// Hands lines to another channel on a thread of its own. Poco's AsyncChannel does the same, but its close() can wake its
// thread just before that begins to wait, and then waits for it for ever.
class QueueChannel final : public Poco::Channel {
public:
    explicit QueueChannel(Poco::AutoPtr<Poco::Channel> to) : to_(std::move(to)), thread_([this] { run(); }) {}

    void log(const Poco::Message& message) override {
        {
            const std::lock_guard lock(mutex_);
            if (queue_.size() >= kQueued) {
                ++dropped_;
                return;
            }
            queue_.push_back(message);
            ++queued_;
        }
        wake_.notify_one();
    }
    void flush() {
        std::unique_lock lock(mutex_);
        progress_.wait(lock, [this, upTo = queued_] { return written_ >= upTo; });
    }

private:
    ~QueueChannel() override {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
            if (queue_.empty()) return;
            const Poco::Message message = std::move(queue_.front());
            queue_.pop_front();
            const std::uint64_t dropped = std::exchange(dropped_, 0);
            lock.unlock();
            to_->log(message);
            if (dropped) to_->log({"weir", std::to_string(dropped) + " log lines were dropped", message.getPriority()});
            lock.lock();
            ++written_;
            progress_.notify_all();
        }
    }

    Poco::AutoPtr<Poco::Channel> to_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable progress_;
    std::deque<Poco::Message> queue_;
    std::uint64_t queued_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t dropped_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

Poco::Message::Priority toPriority(config::LogLevel level) {
    switch (level) {
        case config::LogLevel::Error: return Poco::Message::PRIO_ERROR;
        case config::LogLevel::Warning: return Poco::Message::PRIO_WARNING;
        case config::LogLevel::Info: return Poco::Message::PRIO_INFORMATION;
        case config::LogLevel::Debug: return Poco::Message::PRIO_DEBUG;
    }
    return Poco::Message::PRIO_INFORMATION;
}

// One line stays one line, whatever a client managed to get into it.
std::string withoutControls(std::string_view text) {
    std::string line;
    for (const unsigned char c : text) {
        if (c >= 0x20 && c != 0x7f) {
            line += static_cast<char>(c);
            continue;
        }
        char escaped[5];
        std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
        line += escaped;
    }
    return line;
}

// The sink is a plain function; what it needs is set before it is.
Poco::Logger* logger = nullptr;

void toLogger(weir_log_level level, std::string_view text) {
    const auto priority = static_cast<Poco::Message::Priority>(level);  // the same numbers
    if (logger->is(priority)) logger->log(Poco::Message("weir", withoutControls(text), priority));
}

void toTerminal(weir_log_level level, std::string_view text) {
    if (level > WEIR_LOG_WARNING) return;
    const char* name = level == WEIR_LOG_WARNING ? "warning" : "error";
    std::fprintf(stderr, "weir: %s: %s\n", name, withoutControls(text).c_str());
}

static_assert(static_cast<int>(WEIR_LOG_ERROR) == Poco::Message::PRIO_ERROR);
static_assert(static_cast<int>(WEIR_LOG_DEBUG) == Poco::Message::PRIO_DEBUG);

}  // namespace

struct LogOutput::Channels {
    Poco::AutoPtr<LineChannel> lines;
    Poco::AutoPtr<QueueChannel> queue;
};

base::Result<std::unique_ptr<LogOutput>> LogOutput::open(const config::Settings::Log& settings) {
    int fd = STDERR_FILENO;
    if (!settings.file.empty()) fd = openForAppend(settings.file);
    if (fd < 0) {
        return base::Error{base::ErrorCode::InvalidConfig, "log.file",
                           settings.file.string() + " cannot be opened: " + std::generic_category().message(errno)};
    }
    auto channels = std::make_unique<Channels>();
    channels->lines = new LineChannel(fd, settings.file);
    Poco::AutoPtr<Poco::PatternFormatter> formatter(new Poco::PatternFormatter(kPattern));
    formatter->setProperty(Poco::PatternFormatter::PROP_PRIORITY_NAMES, kLevels);
    Poco::AutoPtr<Poco::FormattingChannel> formatting(new Poco::FormattingChannel(formatter, channels->lines));
    channels->queue = new QueueChannel(formatting);

    logger = &Poco::Logger::get("weir");
    logger->setChannel(channels->queue);
    logger->setLevel(toPriority(settings.level));
    base::setLogSink(&toLogger);
    return std::unique_ptr<LogOutput>(new LogOutput(std::move(channels)));
}

LogOutput::LogOutput(std::unique_ptr<Channels> channels) : channels_(std::move(channels)) {}

LogOutput::~LogOutput() {
    flush();
    logToTerminal();
    logger->setChannel(nullptr);
}

void LogOutput::reopen() { channels_->lines->reopen(); }
void LogOutput::flush() { channels_->queue->flush(); }

void logToTerminal() { base::setLogSink(&toTerminal); }

}  // namespace weir::gateway
