#include "support/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace weir::support {

namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (auto& s : strings) result.push_back(s.data());
    result.push_back(nullptr);
    return result;
}

std::vector<std::string> joinedEnvironment(const std::vector<std::string>& added) {
    auto all = added;  // first: of two equal names getenv() finds the first
    for (char** entry = environ; *entry; ++entry) all.emplace_back(*entry);
    return all;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment) {
    // All memory before the fork: between fork and exec only async-signal-safe calls are allowed.
    std::vector<std::string> argumentStrings{program};
    argumentStrings.insert(argumentStrings.end(), arguments.begin(), arguments.end());
    auto environmentStrings = joinedEnvironment(environment);
    auto argv = pointers(argumentStrings);
    auto envp = pointers(environmentStrings);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");

    // Catch's signal handlers live on in the child until exec, and they allocate: no signal may reach them there.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_ = fork();
    if (pid_ == 0) {
        for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execvpe(program.c_str(), argv.data(), envp.data());
        _exit(127);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    setpgid(pid_, pid_);  // here too: who signals the group next must find it
    close(ends[1]);
    collector_ = std::thread([this, fd = ends[0]] { collect(fd); });
}

ChildProcess::~ChildProcess() {
    if (!exitCode_) reap();
    collector_.join();
}

void ChildProcess::collect(int fd) {
    char buffer[4096];
    for (;;) {
        auto n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        std::lock_guard lock(mutex_);
        if (n > 0) {
            output_.append(buffer, static_cast<std::size_t>(n));
        } else {
            outputClosed_ = true;
        }
        changed_.notify_all();
        if (outputClosed_) break;
    }
    close(fd);
}

void ChildProcess::signal(int number) {
    if (!exitCode_) kill(pid_, number);
}

std::optional<int> ChildProcess::waitForExit(std::chrono::milliseconds deadline) {
    if (exitCode_) return exitCode_;
    int fd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    if (fd < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
    pollfd waiting{fd, POLLIN, 0};
    int ready = poll(&waiting, 1, static_cast<int>(deadline.count()));
    close(fd);
    if (ready <= 0) return std::nullopt;
    reap();
    return exitCode_;
}

void ChildProcess::reap() {
    kill(pid_, SIGKILL);
    kill(-pid_, SIGKILL);  // and whatever it started, which would hold its output open
    int status = 0;
    waitpid(pid_, &status, 0);
    exitCode_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string ChildProcess::output() const {
    std::lock_guard lock(mutex_);
    return output_;
}

std::string ChildProcess::waitForLine(const std::string& text, std::chrono::milliseconds deadline) const {
    std::unique_lock lock(mutex_);
    std::string rest;
    auto found = [&] {
        auto at = output_.find(text);
        auto end = at == std::string::npos ? at : output_.find('\n', at);
        if (end == std::string::npos) return false;
        rest = output_.substr(at + text.size(), end - at - text.size());
        return true;
    };
    bool there = false;
    changed_.wait_for(lock, deadline, [&] { return (there = found()) || outputClosed_; });
    if (!there) throw std::runtime_error("the program never wrote \"" + text + "\"; its output:\n" + output_);
    return rest;
}

void ChildProcess::waitForOutputEnd(std::chrono::milliseconds deadline) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, deadline, [&] { return outputClosed_; });
}

Finished runToEnd(const std::string& program, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment) {
    ChildProcess child(program, arguments, environment);
    auto code = child.waitForExit();
    if (!code) throw std::runtime_error(program + " does not end; its output:\n" + child.output());
    child.waitForOutputEnd();
    return {*code, child.output()};
}

}  // namespace weir::support
