#include "gateway/access_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <system_error>
#include <utility>

#include "base/log.hpp"

namespace weir::gateway {

namespace {

constexpr std::size_t kKeep = 16;  // free buffers; more go back to the heap
constexpr std::chrono::seconds kReportEvery{10};
constexpr std::chrono::seconds kStopTime{5};
constexpr net::Milliseconds kHandOverAfter{1000};

// Not blocking: a pipe that nobody reads must not hold up the start, and is an error then.
int openForAppend(const std::filesystem::path& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640);
}

std::string reason(int error) { return std::generic_category().message(error); }

std::int64_t wallMs() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

// ---- The log ----

base::Result<std::unique_ptr<AccessLog>> AccessLog::open(const config::Settings::AccessLog& settings) {
    if (settings.format == config::AccessLogFormat::Off) return std::unique_ptr<AccessLog>();
    const int fd = settings.file.empty() ? STDOUT_FILENO : openForAppend(settings.file);
    if (fd < 0) {
        return base::Error{base::ErrorCode::InvalidConfig, "accessLog.file",
                           settings.file.string() + " cannot be opened: " + reason(errno)};
    }
    return std::unique_ptr<AccessLog>(new AccessLog(settings, fd));
}

AccessLog::AccessLog(const config::Settings::AccessLog& settings, int fd)
    : format_(settings.format), path_(settings.file), fd_(fd) {
    look();
    thread_ = std::thread([this] { run(); });
}

AccessLog::~AccessLog() {
    giveUp_ = Clock::now() + kStopTime;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (!path_.empty()) ::close(fd_);
}

void AccessLog::reopen() {
    {
        const std::lock_guard lock(mutex_);
        reopen_ = true;
    }
    wake_.notify_one();
}

void AccessLog::flush() {
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [this, upTo = handedOver_] { return written_ >= upTo; });
}

std::unique_ptr<AccessBuffer> AccessLog::exchange(std::unique_ptr<AccessBuffer> buffer) {
    std::unique_ptr<AccessBuffer> empty;
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(buffer));
        ++handedOver_;
        if (handedOver_ - written_ >= kMaxWaiting) full_ = true;
        if (!free_.empty()) {
            empty = std::move(free_.back());
            free_.pop_back();
        }
    }
    wake_.notify_one();
    return empty ? std::move(empty) : std::unique_ptr<AccessBuffer>(new AccessBuffer);
}

// ---- The writer's thread ----

void AccessLog::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        const auto something = [this] { return stopping_ || reopen_ || !waiting_.empty(); };
        if (lost_ == 0) wake_.wait(lock, something);
        else wake_.wait_until(lock, nextReport_, something);
        if (stopping_ && waiting_.empty()) break;
        const bool again = std::exchange(reopen_, false);
        std::unique_ptr<AccessBuffer> buffer;
        if (!waiting_.empty()) {
            buffer = std::move(waiting_.front());
            waiting_.pop_front();
        }
        lock.unlock();
        if (again) openAgain();
        if (buffer) write(buffer->text());
        report(false);
        lock.lock();
        if (!buffer) continue;
        ++written_;
        if (handedOver_ - written_ < kMaxWaiting) full_ = false;
        buffer->used = 0;
        if (free_.size() < kKeep) free_.push_back(std::move(buffer));
        progress_.notify_all();
    }
    report(true);
}

void AccessLog::openAgain() {
    if (path_.empty()) return;
    const int opened = openForAppend(path_);
    if (opened < 0) {
        base::logError("the access log " + path_.string() + " cannot be opened again, the old one stays: " +
                       reason(errno));
        return;
    }
    ::close(fd_);
    fd_ = opened;
    cutShort_ = false;
    look();
}

void AccessLog::look() {
    struct stat status{};
    mayBlock_ = ::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode);
}

void AccessLog::write(std::string_view lines) {
    if (cutShort_ && writeSome("\n") == 1) cutShort_ = false;
    const std::size_t done = cutShort_ ? 0 : writeSome(lines);
    if (done == lines.size()) return;
    if (done > 0) cutShort_ = lines[done - 1] != '\n';
    drop(static_cast<std::size_t>(std::count(lines.begin() + static_cast<std::ptrdiff_t>(done), lines.end(), '\n')));
}

// How much was written before an error.
std::size_t AccessLog::writeSome(std::string_view text) {
    std::size_t done = 0;
    while (done < text.size()) {
        if (mayBlock_ && !waitForRoom()) return done;
        // A pipe that says it has room has room for so much.
        const std::size_t piece = mayBlock_ ? std::min<std::size_t>(text.size() - done, PIPE_BUF) : text.size() - done;
        const ssize_t written = ::write(fd_, text.data() + done, piece);
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (written < 0) {
            error_ = errno;
            return done;
        }
        done += static_cast<std::size_t>(written);
    }
    return done;
}

// False: the gateway has ended and nobody reads.
bool AccessLog::waitForRoom() {
    pollfd descriptor{fd_, POLLOUT, 0};
    for (;;) {
        const bool late = Clock::now() >= giveUp_.load();
        if (::poll(&descriptor, 1, late ? 0 : 100) > 0) return true;
        if (late) return false;
    }
}

void AccessLog::report(bool last) {
    if (lost_ == 0 || (!last && Clock::now() < nextReport_)) return;
    nextReport_ = Clock::now() + kReportEvery;
    const std::string name = path_.empty() ? "standard output" : path_.string();
    const std::string why = error_ ? "cannot be written: " + reason(error_) : "does not take them fast enough";
    error_ = 0;
    base::logWarning(std::to_string(lost_.exchange(0)) + " lines of the access log were dropped: " + name + " " + why);
}

// ---- A loop's side ----

LoopAccessLog::LoopAccessLog(AccessLog& log, net::EventLoop& loop)
    : log_(log),
      loop_(loop),
      line_(log.format()),
      buffer_(new AccessBuffer),
      timer_(&LoopAccessLog::onTimer, this) {}

LoopAccessLog::~LoopAccessLog() { handOverRest(); }

void LoopAccessLog::handOverRest() {
    if (buffer_->used > 0) handOver();
}

void LoopAccessLog::write(AccessRecord record) {
    if (buffer_->room() < AccessLine::bound(record)) {
        if (log_.full()) return log_.drop(1);
        handOver();
    }
    if (record.beganMs == 0) record.beganMs = wallMs() - static_cast<std::int64_t>(record.durationUs / 1000);
    if (!timer_.armed()) timer_.arm(loop_, kHandOverAfter);
    char* end = line_.write(buffer_->data + buffer_->used, record);
    buffer_->used = static_cast<std::size_t>(end - buffer_->data);
}

void LoopAccessLog::onTimer(void* self) {
    auto& loop = *static_cast<LoopAccessLog*>(self);
    if (loop.log_.full()) loop.timer_.arm(loop.loop_, kHandOverAfter);
    else loop.handOver();
}

void LoopAccessLog::handOver() {
    timer_.disarm();
    buffer_ = log_.exchange(std::move(buffer_));
}

}  // namespace weir::gateway
