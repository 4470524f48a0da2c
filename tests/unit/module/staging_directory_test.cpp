#include "module/staging_directory.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>

#include "fixtures/child.hpp"
#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
using weir::support::TempDirectory;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<StagingDirectory> makeIn(const fs::path& place) {
    auto made = StagingDirectory::create(place);
    if (!made) FAIL(made.error().text());
    return std::move(made).value();
}

std::ptrdiff_t entriesIn(const fs::path& directory) {
    return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

// What a process leaves that ends without a word.
void leaveBehind(const fs::path& place, std::string_view bytes) {
    REQUIRE(runAndDie([&] {
                auto staging = StagingDirectory::create(place);
                return staging && (*staging)->write("m", bytes) ? (void)staging->release(), 0 : 1;
            }) == 0);
}

class LimitedFileSize {
public:
    explicit LimitedFileSize(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &limit_);
        const struct rlimit lower {bytes, limit_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &lower);
    }
    ~LimitedFileSize() {
        ::setrlimit(RLIMIT_FSIZE, &limit_);
        std::signal(SIGXFSZ, before_);
    }
    LimitedFileSize(const LimitedFileSize&) = delete;
    LimitedFileSize& operator=(const LimitedFileSize&) = delete;

private:
    void (*before_)(int);
    struct rlimit limit_ {};
};

}  // namespace

TEST_CASE("staged files are the process' own, executable and never the same") {
    const TempDirectory place;
    const auto staging = makeIn(place.path());
    CHECK(staging->path().parent_path() == place.path());
    const auto first = staging->write("m", "bytes");
    const auto second = staging->write("m", "bytes");
    REQUIRE(first);
    REQUIRE(second);
    CHECK(*first != *second);
    struct stat status {};
    REQUIRE(::stat(first->c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0500);
    REQUIRE(::stat(staging->path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("a place that is set is used or is an error that names it") {
    const TempDirectory place;
    const fs::path missing = place.path() / "missing";
    const auto made = StagingDirectory::create(missing);
    REQUIRE_FALSE(made);
    CHECK(made.error().text() == "extPlugin.staging: no private directory to load modules from (" + missing.string() +
                                     ": no directory can be made there: No such file or directory)");
}

TEST_CASE("what dead processes left is removed and said once, whatever process has their number now") {
    const TempDirectory place;
    const auto living = makeIn(place.path());
    CHECK(living->warning().empty());
    leaveBehind(place.path(), "12345");
    CHECK(entriesIn(place.path()) == 2);
    for (const auto& entry : fs::directory_iterator(place.path())) {
        if (entry.path() != living->path())
            fs::rename(entry.path(), place.path() / ("weir-" + std::to_string(::getpid()) + "-reused"));
    }
    leaveBehind(place.path(), "1234567");  // removes the first: only this one is left

    const auto next = makeIn(place.path());
    CHECK(next->warning() ==
          "removed what gateways that died had left: 1 directory with 7 bytes in " + place.path().string());
    CHECK(entriesIn(place.path()) == 2);
    CHECK(fs::exists(living->path()));
    CHECK(makeIn(place.path())->warning().empty());
}

TEST_CASE("what is not a dead gateway's is left alone") {
    const TempDirectory place;
    place.write("weir-12-abcdef/precious", "x");      // no lock: nobody knows whose it is
    place.write("weir-12-abcdefg/.lock", "");         // other names
    place.write("weir-x-abcdef/.lock", "");
    place.write("weir-12-file00", "x");
    place.write("elsewhere/.lock", "");
    fs::create_directory_symlink("elsewhere", place.path() / "weir-12-link00");
    fs::create_directory(place.path() / "weir-12-empty0");  // died before it had its lock
    const auto staging = makeIn(place.path());
    CHECK(staging->warning().empty());
    for (const char* kept : {"weir-12-abcdef/precious", "weir-12-abcdefg/.lock", "weir-x-abcdef/.lock",
                             "weir-12-file00", "elsewhere/.lock", "weir-12-link00"}) {
        INFO(kept);
        CHECK(fs::exists(place.path() / kept));
    }
    CHECK_FALSE(fs::exists(place.path() / "weir-12-empty0"));
}

TEST_CASE("a file that cannot be written whole leaves nothing behind and says what it needed") {
    const TempDirectory place;
    const auto staging = makeIn(place.path());
    const auto before = entriesIn(staging->path());
    const auto staged = [&] {
        const LimitedFileSize limit(1000);
        return staging->write("m", std::string(5000, 'x'));
    }();
    REQUIRE_FALSE(staged);
    CHECK(staged.error().code == RefusalCode::StagingFailed);
    CHECK_THAT(staged.error().text(), Catch::Contains("File too large; 5000 bytes are needed, ") &&
                                          Catch::EndsWith(" are free: make room in " + place.path().string() +
                                                          " or set extPlugin.staging to another directory"));
    CHECK(entriesIn(staging->path()) == before);
    CHECK(staging->write("m", "bytes"));
}

TEST_CASE("a full disk is said with the bytes needed and free") {
    const TempDirectory place;
    runWithMount(place.path(), 0, "size=64k", [&] {
        auto staging = StagingDirectory::create(place.path());
        if (!staging) return 1;
        const auto before = entriesIn((*staging)->path());
        const auto staged = (*staging)->write("m", std::string(100000, 'x'));
        if (staged || staged.error().code != RefusalCode::StagingFailed) return 2;
        const std::string text = staged.error().text();
        if (text.find("No space left on device; 100000 bytes are needed, 65536 are free") == text.npos) return 3;
        if (entriesIn((*staging)->path()) != before) return 4;
        return (*staging)->write("m", "bytes") ? 0 : 5;
    });
}

TEST_CASE("a place that forbids to run code is passed over, or is an error when it was set") {
    const TempDirectory place;
    runWithMount(place.path(), MS_NOEXEC, "", [&] {
        const auto set = StagingDirectory::create(place.path());
        if (set || set.error().text().find(place.path().string() + ": it is mounted noexec") == std::string::npos)
            return 1;
        ::setenv("XDG_RUNTIME_DIR", place.path().c_str(), 1);
        const auto chosen = StagingDirectory::create();
        if (!chosen || (*chosen)->path().parent_path() == place.path()) return 2;
        return entriesIn(place.path()) == 0 ? 0 : 3;
    });
}

TEST_CASE("a place without room is passed over") {
    const TempDirectory place;
    runWithMount(place.path(), 0, "size=64k", [&] {
        ::setenv("XDG_RUNTIME_DIR", place.path().c_str(), 1);
        const auto chosen = StagingDirectory::create();
        if (!chosen || (*chosen)->path().parent_path() == place.path()) return 1;
        return entriesIn(place.path()) == 0 ? 0 : 2;
    });
}
