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
    directory.write("m.so/in the way", "x");  // a directory is not replaced by a file
    CHECK_FALSE(placeModule(file, moduleOf("new", "by new")).ok());
    CHECK(contentOf(directory.path() / "m.so.sig") == "none");
    directory.write("m.so.sig", "by old");
    CHECK_FALSE(placeModule(file, moduleOf("new", "by new")).ok());
    CHECK(contentOf(directory.path() / "m.so.sig") == "by old");
}
