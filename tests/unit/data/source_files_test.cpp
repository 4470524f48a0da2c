#include "data/source_files.hpp"

#include "data/configuration.hpp"
#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir;
using data::SourceFiles;
namespace fs = std::filesystem;

namespace {

// What a load of the file read; whether it came to a configuration.
struct Loaded {
    explicit Loaded(const fs::path& file) { good = data::loadConfiguration(file, {}, {}, &read).ok(); }
    SourceFiles read;
    bool good = false;
};

}  // namespace

TEST_CASE("a load tells the files it read and the patterns it followed") {
    support::TempDirectory directory;
    const auto file = directory.write("weir.yaml", "include: [conf.d/*.yaml, extra.yaml, none/*.yaml]\n");
    const auto included = directory.write("conf.d/a.yaml", "");
    const auto extra = directory.write("extra.yaml", "");
    const Loaded loaded(file);
    CHECK(loaded.good);
    CHECK(loaded.read.patterns.size() == 3);
    const SourceFiles::Keys now = {
        {file, data::FileKey::of(file)}, {included, data::FileKey::of(included)}, {extra, data::FileKey::of(extra)}};
    CHECK(loaded.read.keysThen() == now);
    CHECK(loaded.read.keysNow() == now);
    CHECK(loaded.read.directories() == std::set<fs::path>{directory.path(), directory.path() / "conf.d"});
}

TEST_CASE("a load that fails tells what it read up to there") {
    support::TempDirectory directory;
    const auto file = directory.write("weir.yaml", "include: [a.yaml, b.yaml, c.yaml]\n");
    directory.write("a.yaml", "");
    const Loaded missing(file);
    CHECK(!missing.good);
    CHECK(missing.read.files.size() == 2);
    directory.write("b.yaml", "plugins: {");
    const Loaded bad(file);
    CHECK(!bad.good);
    CHECK(bad.read.files.size() == 3);
    CHECK(!bad.read.sameContent(missing.read));
    CHECK(!Loaded(directory.path() / "nope.yaml").good);
}

TEST_CASE("a file that is touched or replaced has another key, and the content tells whether it changed") {
    support::TempDirectory directory;
    const auto file = directory.write("weir.yaml", "include: '*.more'\n");
    const Loaded before(file);
    const auto changedSince = [&] { return before.read.keysNow() != before.read.keysThen(); };
    CHECK(!changedSince());
    SECTION("touched") {
        fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));
        CHECK(changedSince());
        CHECK(Loaded(file).read.sameContent(before.read));
    }
    SECTION("replaced by the same") {
        fs::rename(directory.write("new", "include: '*.more'\n"), file);
        CHECK(changedSince());
        CHECK(Loaded(file).read.sameContent(before.read));
    }
    SECTION("replaced by another of that size") {
        fs::rename(directory.write("new", "include: '*.most'\n"), file);
        CHECK(changedSince());
        CHECK(!Loaded(file).read.sameContent(before.read));
    }
    SECTION("gone") {
        fs::remove(file);
        CHECK(changedSince());
        CHECK(before.read.keysNow().at(file) == data::FileKey{});
        CHECK(!Loaded(file).read.sameContent(before.read));
    }
    SECTION("joined by one that a pattern matches") {
        directory.write("a.more", "");
        CHECK(changedSince());
        CHECK(!Loaded(file).read.sameContent(before.read));
    }
    SECTION("joined by one that none matches") {
        directory.write("a.less", "");
        CHECK(!changedSince());
    }
}

TEST_CASE("a link is watched where it stands and where it leads") {
    support::TempDirectory directory;
    const auto target = directory.write("there/weir.yaml", "");
    fs::create_directory(directory.path() / "here");
    const auto link = directory.path() / "here/weir.yaml";
    fs::create_symlink("../there/weir.yaml", link);
    CHECK(Loaded(link).read.directories() ==
          std::set<fs::path>{link.parent_path(), fs::canonical(target).parent_path()});
}
