#include "gateway/log_output.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/log.hpp"
#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir;
using gateway::LogOutput;
using support::TempDirectory;

namespace {

std::vector<std::string> linesOf(const std::filesystem::path& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// What stands behind the time.
std::vector<std::string> textsOf(const std::filesystem::path& file) {
    std::vector<std::string> texts;
    for (const std::string& line : linesOf(file)) texts.push_back(line.substr(line.find(' ') + 1));
    return texts;
}

std::unique_ptr<LogOutput> openLog(const std::filesystem::path& file, config::LogLevel level = config::LogLevel::Info) {
    auto log = LogOutput::open({level, file});
    REQUIRE(log);
    return std::move(*log);
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a log line is UTC time, level and text, and all are written at the end") {
    TempDirectory directory;
    auto file = directory.path() / "weir.log";
    {
        auto log = openLog(file);
        for (int i = 0; i < 1000; ++i) base::logInfo("line " + std::to_string(i));
    }
    auto lines = linesOf(file);
    REQUIRE(lines.size() == 1000);
    CHECK_THAT(lines.front(), Catch::Matches(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info line 0)"));
    CHECK_THAT(lines.back(), Catch::EndsWith(" info line 999"));
}

TEST_CASE("the level of the settings decides what is logged") {
    struct Row { config::LogLevel level; Texts texts; };
    const Row rows[] = {
        {config::LogLevel::Error, {"error e"}},
        {config::LogLevel::Warning, {"error e", "warning w"}},
        {config::LogLevel::Info, {"error e", "warning w", "notice n", "info i"}},
        {config::LogLevel::Debug, {"error e", "warning w", "notice n", "info i", "debug d"}},
    };
    for (const Row& row : rows) {
        TempDirectory directory;
        auto file = directory.path() / "weir.log";
        {
            auto log = openLog(file, row.level);
            base::log(WEIR_LOG_ERROR, "e");
            base::log(WEIR_LOG_WARNING, "w");
            base::log(WEIR_LOG_NOTICE, "n");
            base::log(WEIR_LOG_INFORMATION, "i");
            base::log(WEIR_LOG_DEBUG, "d");
        }
        CHECK(textsOf(file) == row.texts);
    }
}

TEST_CASE("a line stays one line, whatever is in it") {
    TempDirectory directory;
    auto file = directory.path() / "weir.log";
    {
        auto log = openLog(file);
        base::logInfo(std::string_view("a\nb\r\x1b[1m\0%t\xc3\xa4", 13));
    }
    CHECK(textsOf(file) == Texts{"info a\\x0ab\\x0d\\x1b[1m\\x00%t\xc3\xa4"});
}

TEST_CASE("reopening writes to the file that now has the name, and lines of many threads stay whole") {
    TempDirectory directory;
    auto file = directory.path() / "weir.log";
    auto moved = directory.path() / "weir.log.1";
    {
        auto log = openLog(file);
        std::vector<std::thread> writers;
        for (int t = 0; t < 4; ++t) {
            writers.emplace_back([] {
                for (int i = 0; i < 500; ++i) base::logInfo("from a thread");
            });
        }
        std::filesystem::rename(file, moved);
        log->reopen();
        for (std::thread& writer : writers) writer.join();
        log->flush();
        base::logInfo("after a flush");
    }
    auto texts = textsOf(moved);
    auto newer = textsOf(file);
    texts.insert(texts.end(), newer.begin(), newer.end());
    CHECK(texts.size() == 2001);
    CHECK(newer.back() == "info after a flush");
    texts.pop_back();
    CHECK(texts == Texts(2000, "info from a thread"));
}

TEST_CASE("when the log cannot be opened again the old file goes on") {
    TempDirectory directory;
    auto file = directory.path() / "logs" / "weir.log";
    auto moved = directory.path() / "moved";
    std::filesystem::create_directory(file.parent_path());
    {
        auto log = openLog(file);
        std::filesystem::rename(file.parent_path(), moved);
        log->reopen();
        base::logInfo("still here");
    }
    const std::string reason = " cannot be opened again, the old one stays: No such file or directory";
    CHECK(textsOf(moved / "weir.log") == Texts{"info still here", "error the log file " + file.string() + reason});
}

TEST_CASE("a log file that cannot be opened is an error with its path and the reason") {
    TempDirectory directory;
    auto file = directory.path() / "none" / "weir.log";
    auto log = LogOutput::open({config::LogLevel::Info, file});
    REQUIRE_FALSE(log);
    CHECK(log.error().text() == "log.file: " + file.string() + " cannot be opened: No such file or directory");
}
