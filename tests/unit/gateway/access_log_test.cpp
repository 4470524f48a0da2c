#include "gateway/access_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "base/log.hpp"
#include "gateway/log_output.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/temp_directory.hpp"

using namespace weir;
using config::AccessLogFormat;
using gateway::AccessLog;
using gateway::AccessRecord;
using gateway::LoopAccessLog;
using support::TempDirectory;

namespace {

std::vector<std::string> linesOf(const std::filesystem::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::unique_ptr<AccessLog> openLog(const std::filesystem::path& file) {
    auto log = AccessLog::open({AccessLogFormat::Combined, file});
    INFO((log ? "" : log.error().text()));
    REQUIRE(log);
    return std::move(*log);
}

AccessRecord record(std::string_view target) {
    AccessRecord record;
    record.client = "192.0.2.7";
    record.method = "GET";
    record.target = target;
    record.status = 200;
    return record;
}

bool tells(const std::string& line, std::string_view target) {
    return line.find("\"GET " + std::string(target) + " HTTP/1.1\"") != line.npos;
}

// The warnings that are logged while it lives.
class Warnings {
public:
    Warnings() {
        texts().clear();
        base::setLogSink([](weir_log_level, std::string_view text) {
            const std::lock_guard lock(mutex());
            texts().emplace_back(text);
        });
    }
    ~Warnings() { gateway::logToTerminal(); }

    std::vector<std::string> all() const {
        const std::lock_guard lock(mutex());
        return texts();
    }

private:
    static std::vector<std::string>& texts() {
        static std::vector<std::string> texts;
        return texts;
    }
    static std::mutex& mutex() {
        static std::mutex mutex;
        return mutex;
    }
};

// A pipe with a name that is open for reading; nobody reads until drain().
class Pipe {
public:
    explicit Pipe(std::filesystem::path path) : path_(std::move(path)) {
        REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
        fd_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        REQUIRE(fd_ >= 0);
    }
    ~Pipe() { ::close(fd_); }

    // Counts lines until the writer has closed.
    std::size_t drain() const {
        ::fcntl(fd_, F_SETFL, 0);
        std::size_t lines = 0;
        static char bytes[65536];
        for (ssize_t got; (got = ::read(fd_, bytes, sizeof bytes)) > 0;) {
            lines += static_cast<std::size_t>(std::count(bytes, bytes + got, '\n'));
        }
        return lines;
    }

private:
    std::filesystem::path path_;
    int fd_ = -1;
};

}  // namespace

TEST_CASE("switched off there is no access log") {
    auto log = AccessLog::open({AccessLogFormat::Off, "/nowhere/access.log"});
    REQUIRE(log);
    CHECK(*log == nullptr);
}

TEST_CASE("an access log that cannot be opened is an error with its path and the reason") {
    TempDirectory directory;
    auto file = directory.path() / "none" / "access.log";
    auto log = AccessLog::open({AccessLogFormat::Json, file});
    REQUIRE_FALSE(log);
    CHECK(log.error().text() == "accessLog.file: " + file.string() + " cannot be opened: No such file or directory");
    CHECK_FALSE(AccessLog::open({AccessLogFormat::Json, directory.path()}));
}

TEST_CASE("at the end all lines of all loops are in the file, whole and each loop's in order") {
    TempDirectory directory;
    auto file = directory.path() / "access.log";
    constexpr int kLines = 20000;  // more than a buffer
    {
        auto log = openLog(file);
        std::vector<std::thread> loops;
        for (int l = 0; l < 3; ++l) {
            loops.emplace_back([&log, l] {
                net::EventLoop loop;
                LoopAccessLog access(*log, loop);
                for (int i = 0; i < kLines; ++i) {
                    access.write(record("/" + std::to_string(l) + "/" + std::to_string(i)));
                    if (i % 1000 == 0) std::this_thread::yield();
                }
            });
        }
        for (std::thread& loop : loops) loop.join();
    }
    int next[3] = {0, 0, 0};
    int wrong = 0;
    for (const std::string& line : linesOf(file)) {
        const auto at = line.find("GET /");
        REQUIRE(at != line.npos);
        const int loop = line[at + 5] - '0';
        if (!tells(line, "/" + std::to_string(loop) + "/" + std::to_string(next[loop]++))) ++wrong;
    }
    CHECK(wrong == 0);
    for (const int count : next) CHECK(count == kLines);
}

TEST_CASE("lines are in the file a second after the first of them, without another request") {
    TempDirectory directory;
    auto file = directory.path() / "access.log";
    auto log = openLog(file);
    net::EventLoop loop;
    LoopAccessLog access(*log, loop);
    for (const char* target : {"/a", "/b"}) access.write(record(target));
    CHECK(linesOf(file).empty());
    CHECK(support::eventually([&] {
        loop.runOnce(net::Milliseconds(50));
        return linesOf(file).size() == 2;
    }));
    access.write(record("/c"));
    CHECK(support::eventually([&] {
        loop.runOnce(net::Milliseconds(50));
        return linesOf(file).size() == 3;
    }));
}

TEST_CASE("a line without a time has that of its beginning") {
    TempDirectory directory;
    auto file = directory.path() / "access.log";
    {
        auto opened = AccessLog::open({AccessLogFormat::Json, file});
        REQUIRE(opened);
        auto log = std::move(*opened);
        net::EventLoop loop;
        LoopAccessLog access(*log, loop);
        AccessRecord slow = record("/");
        slow.durationUs = 3600'000'000;
        access.write(slow);
    }
    const std::time_t before = std::time(nullptr) - 3600;
    char expected[2][32];
    for (int i = 0; i < 2; ++i) {
        const std::time_t second = before - i * 10;
        std::tm tm{};
        ::gmtime_r(&second, &tm);
        std::strftime(expected[i], sizeof expected[i], "{\"time\":\"%Y-%m-%dT%H:%M:%S.999Z", &tm);
    }
    auto lines = linesOf(file);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] <= expected[0]);
    CHECK(lines[0] >= expected[1]);
}

TEST_CASE("reopening gives the old file up at once and goes on in the one that has the name") {
    TempDirectory directory;
    auto file = directory.path() / "access.log";
    auto moved = directory.path() / "access.log.1";
    auto log = openLog(file);
    net::EventLoop loop;
    {
        LoopAccessLog access(*log, loop);
        access.write(record("/before"));
    }
    log->flush();
    std::filesystem::rename(file, moved);
    log->reopen();
    CHECK(support::eventually([&] { return std::filesystem::exists(file); }));
    {
        LoopAccessLog access(*log, loop);
        access.write(record("/after"));
    }
    log->flush();
    REQUIRE(linesOf(moved).size() == 1);
    CHECK(tells(linesOf(moved)[0], "/before"));
    REQUIRE(linesOf(file).size() == 1);
    CHECK(tells(linesOf(file)[0], "/after"));
}

TEST_CASE("when the access log cannot be opened again the old file goes on and the log says so") {
    TempDirectory directory;
    auto file = directory.path() / "logs" / "access.log";
    auto moved = directory.path() / "moved";
    std::filesystem::create_directory(file.parent_path());
    const Warnings warnings;
    {
        auto log = openLog(file);
        std::filesystem::rename(file.parent_path(), moved);
        log->reopen();
        net::EventLoop loop;
        LoopAccessLog(*log, loop).write(record("/still"));
    }
    CHECK(linesOf(moved / "access.log").size() == 1);
    CHECK(warnings.all() == std::vector<std::string>{"the access log " + file.string() +
                                                     " cannot be opened again, the old one stays: "
                                                     "No such file or directory"});
}

TEST_CASE("lines that come faster than they are taken are dropped and counted, and the loop never waits") {
    TempDirectory directory;
    const Pipe pipe(directory.path() / "pipe");
    const Warnings warnings;
    constexpr std::size_t kLines = 30000;
    const std::string target(1000, 't');  // 30 MB, nearly twice what can wait
    std::size_t received = 0;
    {
        auto log = openLog(directory.path() / "pipe");
        net::EventLoop loop;
        auto access = std::make_unique<LoopAccessLog>(*log, loop);
        for (std::size_t i = 0; i < kLines; ++i) access->write(record(target));
        std::thread reader([&] { received = pipe.drain(); });
        access.reset();
        log.reset();
        reader.join();
    }
    CHECK(received > 14000);
    CHECK(received < kLines);
    const std::string name = (directory.path() / "pipe").string();
    CHECK(warnings.all() == std::vector<std::string>{std::to_string(kLines - received) +
                                                     " lines of the access log were dropped: " + name +
                                                     " does not take them fast enough"});
}

TEST_CASE("lines that cannot be written are counted, with the reason") {
    const Warnings warnings;
    {
        auto log = openLog("/dev/full");
        net::EventLoop loop;
        LoopAccessLog access(*log, loop);
        for (int i = 0; i < 3; ++i) access.write(record("/"));
    }
    CHECK(warnings.all() == std::vector<std::string>{"3 lines of the access log were dropped: /dev/full cannot be "
                                                     "written: No space left on device"});
}
