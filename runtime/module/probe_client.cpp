#include "module/probe_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/hex.hpp"
#include "base/value.hpp"
#include "module/probe_protocol.hpp"

namespace weir::module {

namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Value;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLogBytes = 16 * 1024;
constexpr std::size_t kAnswerBytes = 256 * 1024;  // the longest line that is waited for
constexpr std::size_t kLastWordsBytes = 200;
constexpr std::int64_t kLookForStopMs = 100;

// What the module may see of this program's environment: how libraries are found, the locale, and what the sanitizers
// were told. Nothing else: variables carry secrets.
constexpr std::array kVariables = {"PATH",         "LANG",         "LC_ALL",       "TZ",           "LD_LIBRARY_PATH",
                                   "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"};

using base::Descriptor;

Refusal cannotProbe(const ProbeInput& input, const std::string& what, int number) {
    return {RefusalCode::ProbeFailed, input.program.string(),
            "not able to try the module out: " + what + ": " + std::generic_category().message(number), "",
            "install weir-probe with this gateway, and see that the system has descriptors and processes left"};
}

std::string makeToken() {
    std::array<unsigned char, 16> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
    std::string token;
    for (const unsigned char byte : bytes) token += base::hexOf(byte);
    return token;
}

std::string makeRequest(const ProbeInput& input, const std::string& token) {
    // Several threads may use the time in parallel; this bound is for a process that got away.
    const auto cpuSeconds = 4 * (std::chrono::duration_cast<std::chrono::seconds>(input.deadline).count() + 1);
    std::string text = std::string(kProbeStepBytes, '\0') + "{\"token\":\"" + token +
                       "\",\"parent\":" + std::to_string(::getpid()) +
                       ",\"cpuSeconds\":" + std::to_string(cpuSeconds) + ",\"balancers\":[";
    for (const std::string& key : input.balancers) text += (text.back() == '[' ? "" : ",") + base::jsonQuote(key);
    return text + "],\"data\":" + (input.dataJson.empty() ? "[]" : input.dataJson) + "}";
}

// Out of the way of the numbers that the child uses. -1 and errno if that fails, also if `fd` is -1.
Descriptor moved(int fd) {
    if (fd < 0) return Descriptor();
    const Descriptor low(fd);
    return Descriptor(::fcntl(low.fd(), F_DUPFD_CLOEXEC, kProbeAnswerFd + 1));
}

// A file in memory: the child reads it at its leisure, however long it is.
Descriptor fileWith(std::string_view text) {
    Descriptor file = moved(::memfd_create("weir-probe-request", MFD_CLOEXEC));
    while (file.fd() >= 0 && !text.empty()) {
        const ssize_t written = ::write(file.fd(), text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return Descriptor();
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return file;
}

struct Pipe {
    Descriptor read;  // does not block
    Descriptor write;

    Pipe() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        read = moved(ends[0]);
        write = moved(ends[1]);
        if (read.fd() >= 0) ::fcntl(read.fd(), F_SETFL, O_NONBLOCK);
    }
    bool ok() const { return read.fd() >= 0 && write.fd() >= 0; }
};

// What posix_spawn is told: descriptors 0 to 4 as the protocol says and no other, a session of its own, no signal
// blocked or ignored, "/" as its directory.
class SpawnPlan {
public:
    SpawnPlan(int request, int answers, int log) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, log, STDOUT_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, log, STDERR_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, request, kProbeRequestFd);
        ::posix_spawn_file_actions_adddup2(&actions_, answers, kProbeAnswerFd);
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, kProbeAnswerFd + 1);
        ::posix_spawn_file_actions_addchdir_np(&actions_, "/");
        ::posix_spawnattr_init(&attributes_);
        sigset_t signals;
        ::sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&attributes_, &signals);
        ::sigfillset(&signals);
        ::posix_spawnattr_setsigdefault(&attributes_, &signals);
        ::posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~SpawnPlan() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;

    // 0, or what went wrong. Safe in a program with threads: nothing of it runs in the child but the kernel.
    int run(const ProbeInput& input, pid_t& pid) const {
        std::string program = fs::absolute(input.program).string();
        std::string module = fs::absolute(input.stagedFile).string();
        std::vector<std::string> variables;
        for (const char* name : kVariables) {
            const char* value = std::getenv(name);
            if (value) variables.push_back(std::string(name) + "=" + value);
        }
        std::vector<char*> environment;
        for (std::string& variable : variables) environment.push_back(variable.data());
        environment.push_back(nullptr);
        char* arguments[] = {program.data(), module.data(), nullptr};
        return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments, environment.data());
    }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

// The step that was reached, from the request's file after the end; "": none was.
std::string lastStep(int request) {
    std::array<char, kProbeStepBytes> bytes{};
    const ssize_t got = ::pread(request, bytes.data(), bytes.size() - 1, 0);
    return got > 0 ? std::string(bytes.data()) : std::string();
}

// The lines with the token, of all that comes through the answers' pipe.
class Answers {
public:
    explicit Answers(std::string token) : token_(std::move(token)) {}

    void add(std::string_view bytes) {
        for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
            line_ += bytes.substr(0, end);
            take(line_);
            line_.clear();
        }
        line_ += bytes;
        if (line_.size() > kAnswerBytes) line_.clear();
    }

    const std::optional<Value>& refused() const { return refused_; }
    const std::optional<Value>& passed() const { return passed_; }

private:
    void take(std::string_view line) {
        if (!line.starts_with(token_)) return;
        auto answer = base::parseJson(line.substr(token_.size()));
        if (!answer) return;
        if (const Value* refused = answer->find("refused")) refused_ = *refused;
        if (const Value* passed = answer->find("passed")) passed_ = *passed;
    }

    const std::string token_;
    std::string line_;
    std::optional<Value> refused_;
    std::optional<Value> passed_;
};

// Reads what is there, at most a pipe's content at a time. false: nothing more will come.
template <class Take>
bool readFrom(int fd, Take take) {
    std::array<char, 64 * 1024> buffer;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// A running weir-probe and what is heard of it.
class Child {
public:
    Answers answers;
    std::string log;
    bool timedOut = false;
    bool stopped = false;
    int status = 0;  // as wait gives it

    Child(pid_t pid, Descriptor answersPipe, Descriptor logPipe, std::string token)
        : answers(std::move(token)), pid_(pid), answersPipe_(std::move(answersPipe)), logPipe_(std::move(logPipe)) {}
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Listens until it is over, or kills it at the deadline or when asked to stop. 0, or why that cannot be done.
    int run(Clock::time_point deadline, const std::stop_token& stop) {
        const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
        if (process.fd() < 0) return errno;
        pollfd waiting[] = {
            {process.fd(), POLLIN, 0}, {answersPipe_.fd(), POLLIN, 0}, {logPipe_.fd(), POLLIN, 0}};
        while (waiting[0].revents == 0) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
            if (left.count() <= 0) {
                timedOut = true;
                break;
            }
            if (stop.stop_requested()) {
                stopped = true;
                break;
            }
            if (::poll(waiting, 3, static_cast<int>(std::min<std::int64_t>(left.count(), kLookForStopMs))) < 0) {
                if (errno == EINTR) continue;
                return errno;
            }
            if (waiting[1].revents != 0 && !hear()) waiting[1].fd = -1;
            if (waiting[2].revents != 0 && !collect()) waiting[2].fd = -1;
        }
        end();
        hear();  // what was still in the pipes
        collect();
        return 0;
    }

private:
    bool hear() {
        return readFrom(answersPipe_.fd(), [this](std::string_view bytes) { answers.add(bytes); });
    }
    bool collect() {
        return readFrom(logPipe_.fd(), [this](std::string_view bytes) {
            log += bytes.substr(0, std::min(bytes.size(), kLogBytes - log.size()));
        });
    }
    // With all of its group. While it is not waited for, nobody else can get its number.
    void end() {
        if (pid_ < 0) return;
        ::kill(-pid_, SIGKILL);
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
        pid_ = -1;
    }

    pid_t pid_;
    Descriptor answersPipe_;
    Descriptor logPipe_;
};

// ": its last words were \"...\"", for an end that the module did not explain.
std::string lastWords(std::string_view log) {
    while (!log.empty() && log.back() == '\n') log.remove_suffix(1);
    log = log.substr(log.rfind('\n') + 1).substr(0, kLastWordsBytes);
    return log.empty() ? "" : "; its last words: " + std::string(log);
}

std::string signalName(int number) {
    const char* name = ::sigabbrev_np(number);
    return name ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

Refusal tooSlow(const ProbeInput& input, const Child& child, const std::string& step) {
    return {RefusalCode::ProbeTimeout, step,
            "not over after " + std::to_string(input.deadline.count()) + " ms" + lastWords(child.log), "",
            "make it quicker, or raise extPlugin.probeTimeout"};
}

std::string textOf(const Value& answer, std::string_view key) {
    const Value* found = answer.find(key);
    return found ? found->text() : std::string();
}

RefusalCode codeOf(std::string_view text) {
    for (int code = 0;; ++code) {
        const std::string_view each = toText(static_cast<RefusalCode>(code));
        if (each == text) return static_cast<RefusalCode>(code);
        if (each == "unknown") return RefusalCode::ProbeFailed;
    }
}

Refusal asTold(const Value& refused) {
    return {codeOf(textOf(refused, "code")), textOf(refused, "field"), textOf(refused, "found"),
            textOf(refused, "wanted"), textOf(refused, "remedy")};
}

// "SIGSEGV", "an exit with code 3"
std::string howEnded(int status) {
    return WIFSIGNALED(status) ? signalName(WTERMSIG(status))
                               : "an exit with code " + std::to_string(WEXITSTATUS(status));
}

// What came of it. A signal counts even behind the last answer: the gateway would die at its stop.
Result<ProbeReport, Refusal> judge(const ProbeInput& input, Child& child, const std::string& step) {
    const std::string ended = "ended by " + howEnded(child.status) + lastWords(child.log);
    if (child.stopped) return Refusal{RefusalCode::ProbeFailed, "trial", "given up: the gateway stops", "", ""};
    if (child.timedOut) return tooSlow(input, child, step.empty() ? "start of weir-probe" : step);
    if (child.answers.refused()) return asTold(*child.answers.refused());
    if (step.empty()) {  // nothing of the module has run
        return Refusal{RefusalCode::ProbeFailed, input.program.string(), ended, "",
                       "install the weir-probe that belongs to this gateway"};
    }
    if (WIFSIGNALED(child.status)) {
        if (WTERMSIG(child.status) == SIGXCPU) return tooSlow(input, child, step);
        return Refusal{RefusalCode::ProbeCrashed, step, ended, "",
                       "the module is faulty: debug it, for instance with its tests under a sanitizer"};
    }
    if (!child.answers.passed()) {
        const bool silenced = WEXITSTATUS(child.status) == kProbeSilenced;
        return Refusal{RefusalCode::ProbeExited, step,
                       silenced ? "followed by closed descriptors that are not the module's" : ended, "",
                       "a module must not end the process, nor close what it did not open"};
    }
    const Value& passed = *child.answers.passed();
    ProbeReport report;
    if (const Value* unloads = passed.find("unloads")) report.unloads = unloads->toBool().value_or(false);
    if (const Value* threads = passed.find("threads"))
        report.threads = static_cast<std::uint32_t>(threads->toInt().value_or(0));
    report.stays = textOf(passed, "stays");
    report.log = std::move(child.log);
    return report;
}

}  // namespace

Result<ProbeReport, Refusal> probeModule(const ProbeInput& input) {
    const auto began = Clock::now();
    const std::string token = makeToken();
    if (token.empty()) return cannotProbe(input, "random bytes", errno);
    const Descriptor request = fileWith(makeRequest(input, token));
    if (request.fd() < 0) return cannotProbe(input, "request", errno);
    Pipe answers;
    if (!answers.ok()) return cannotProbe(input, "pipe", errno);
    Pipe log;
    if (!log.ok()) return cannotProbe(input, "pipe", errno);

    pid_t pid = -1;
    const SpawnPlan plan(request.fd(), answers.write.fd(), log.write.fd());
    if (const int failure = plan.run(input, pid)) return cannotProbe(input, "start", failure);
    Child child(pid, std::move(answers.read), std::move(log.read), token);
    answers.write = Descriptor();
    log.write = Descriptor();
    if (const int failure = child.run(began + input.deadline, input.stop)) return cannotProbe(input, "wait", failure);

    auto report = judge(input, child, lastStep(request.fd()));
    if (report) report->took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
    return report;
}

fs::path defaultProbeProgram() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    const fs::path directory = error ? fs::path(".") : self.parent_path();
    const fs::path installed = directory.parent_path() / "libexec/weir/weir-probe";
    return fs::exists(installed, error) ? installed : directory / "weir-probe";
}

}  // namespace weir::module
