#include "module/place_module.hpp"

#include <fstream>
#include <iterator>

#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
using weir::support::TempDirectory;
namespace fs = std::filesystem;

namespace {

std::string contentOf(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return in ? std::string(std::istreambuf_iterator<char>(in), {}) : "none";
}

ModuleFile moduleOf(const std::string& bytes, std::optional<std::string> signature) {
    ModuleFile module;
    module.bytes = bytes;
    module.signature = std::move(signature);
    return module;
}

}  // namespace

TEST_CASE("a module is placed with the signature that it came with, and without one leaves what is there") {
    const TempDirectory directory;
    const fs::path file = directory.path() / "m.so";
    REQUIRE(placeModule(file, moduleOf("one", std::nullopt)).ok());
    CHECK(contentOf(file) == "one");
    CHECK(contentOf(directory.path() / "m.so.sig") == "none");
    REQUIRE(placeModule(file, moduleOf("two", "by two")).ok());
    REQUIRE(placeModule(file, moduleOf("three", std::nullopt)).ok());
    CHECK(contentOf(file) == "three");
    CHECK(contentOf(directory.path() / "m.so.sig") == "by two");
}

TEST_CASE("when a module can not be placed the signature that was there comes back") {
    const TempDirectory directory;
    const fs::path file = directory.path() / "m.so";
    directory.write(".m.so.new/in the way", "x");  // what is to be renamed can not be written
    CHECK_FALSE(placeModule(file, moduleOf("new", "by new")).ok());
    CHECK(contentOf(directory.path() / "m.so.sig") == "none");
    directory.write("m.so.sig", "by old");
    CHECK_FALSE(placeModule(file, moduleOf("new", "by new")).ok());
    CHECK(contentOf(directory.path() / "m.so.sig") == "by old");
}

TEST_CASE("a module does not take the place of what could not be put back") {
    const TempDirectory directory;
    directory.write("m.so/in the way", "x");
    const auto placed = placeModule(directory.path() / "m.so", moduleOf("new", "by new"));
    REQUIRE_FALSE(placed.ok());
    CHECK(placed.error().text() == (directory.path() / "m.so").string() + ": cannot be read");
    CHECK(contentOf(directory.path() / "m.so.sig") == "none");
}

TEST_CASE("what a module replaced is put back") {
    const TempDirectory directory;
    const fs::path file = directory.path() / "m.so";
    SECTION("nothing") {
        const auto before = placeModule(file, moduleOf("new", "by new"));
        REQUIRE(before.ok());
        REQUIRE(putBack(file, *before).ok());
        CHECK(fs::is_empty(directory.path()));
    }
    SECTION("a module and its signature") {
        directory.write("m.so", "old");
        directory.write("m.so.sig", "by old");
        const auto before = placeModule(file, moduleOf("new", "by new"));
        REQUIRE(before.ok());
        REQUIRE(putBack(file, *before).ok());
        CHECK(contentOf(file) == "old");
        CHECK(contentOf(directory.path() / "m.so.sig") == "by old");
    }
    SECTION("or it is said that it can not be") {
        const auto before = placeModule(file, moduleOf("new", std::nullopt));
        REQUIRE(before.ok());
        fs::remove(file);
        directory.write("m.so/in the way", "x");
        const auto back = putBack(file, *before);
        REQUIRE_FALSE(back.ok());
        CHECK(back.error().text().find("m.so: cannot be removed") != std::string::npos);
    }
}
