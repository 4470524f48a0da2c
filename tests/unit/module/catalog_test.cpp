#include "module/catalog.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "fixtures/fixture_files.hpp"
#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
namespace fs = std::filesystem;

namespace {

// Modules "fixture" and "fixturf", which provide the same: plugins alpha and beta, load balancer pick.
struct TwoModules {
    weir::support::TempDirectory directory;

    TwoModules() {
        fs::copy_file(fixtureFile("fixture"), directory.path() / "fixture.so");
        copyPatched("fixture", directory.path() / "twin.so", "\"id\":\"fixture\"", "\"id\":\"fixturf\"");
        fs::create_directories(directory.path() / "spi");
        write("Plugin", "alpha = fixture\nbeta = fixture\n");
        write("LoadBalancer", "pick = fixture\n");
    }
    void write(const std::string& interface, const std::string& text) const {
        std::ofstream(directory.path() / "spi" / interface) << text;
    }
    ModuleCatalog scan() const { return ModuleCatalog::scan(directory.path()); }
};

std::string servedBy(const ModuleCatalog& catalog, std::string_view interface, std::string_view key) {
    const ModuleCatalog::Entry* entry = catalog.selected(interface, key);
    return entry == nullptr ? "nobody" : entry->module->manifest.id;
}

}  // namespace

TEST_CASE("the catalog lists what every module provides, in chain order, without loading it") {
    const TwoModules files;
    const ModuleCatalog catalog = files.scan();
    CHECK(catalog.problems().empty());
    REQUIRE(catalog.modules().size() == 2);
    std::string listed;
    for (const auto& entry : catalog.entries()) {
        const Provided& item = *entry.provided;
        const Manifest& manifest = entry.module->manifest;
        listed += item.interface + " " + item.key + " " + std::to_string(item.order) + " " + manifest.id + " " +
                  manifest.version + " " + std::string(toText(entry.state)) + "\n";
    }
    CHECK(listed ==
          "LoadBalancer pick 0 fixture 1.2.3 selected\n"
          "LoadBalancer pick 0 fixturf 1.2.3 not selected\n"
          "Plugin beta -5 fixture 1.2.3 selected\n"
          "Plugin beta -5 fixturf 1.2.3 not selected\n"
          "Plugin alpha 10 fixture 1.2.3 selected\n"
          "Plugin alpha 10 fixturf 1.2.3 not selected\n");
    std::ifstream maps("/proc/self/maps");
    const std::string mapped((std::istreambuf_iterator<char>(maps)), {});
    CHECK(mapped.find(files.directory.path().string()) == std::string::npos);
}

TEST_CASE("a line of the SPI index decides who serves a key") {
    const TwoModules files;
    CHECK(servedBy(files.scan(), "LoadBalancer", "pick") == "fixture");
    files.write("LoadBalancer", "pick = fixturf\n");
    CHECK(servedBy(files.scan(), "LoadBalancer", "pick") == "fixturf");
    CHECK(servedBy(files.scan(), "Plugin", "alpha") == "fixture");
    files.write("LoadBalancer", "# pick = fixture\n");
    CHECK(servedBy(files.scan(), "LoadBalancer", "pick") == "nobody");
    CHECK(files.scan().problems().empty());
}

TEST_CASE("a line that no manifest backs is a problem with file and line") {
    const TwoModules files;
    files.write("LoadBalancer", "pick = fixture\nmissing = fixture\n\nother = ghost\n");
    const ModuleCatalog catalog = files.scan();
    const std::string file = (files.directory.path() / "spi" / "LoadBalancer").string();
    REQUIRE(catalog.problems().size() == 2);
    CHECK(catalog.problems()[0].text() == file + ":2: the module \"fixture\" (" +
                                              (files.directory.path() / "fixture.so").string() +
                                              ") does not provide LoadBalancer \"missing\"");
    CHECK(catalog.problems()[1].text() == file + ":4: there is no module \"ghost\" to serve \"other\"");
    CHECK(servedBy(catalog, "LoadBalancer", "pick") == "fixture");
}

TEST_CASE("files that are no modules are problems, others are not looked at") {
    const TwoModules files;
    const fs::path directory = files.directory.path();
    std::ofstream(directory / "text.so") << "text";
    std::ofstream(directory / ".hidden.so") << "text";
    std::ofstream(directory / "readme.txt") << "text";
    fs::create_directories(directory / "directory.so");
    fs::create_symlink("nowhere", directory / "dangling.so");
    fs::copy_file(directory / "fixture.so", directory / "zcopy.so");
    const ModuleCatalog catalog = files.scan();
    std::string problems;
    for (const auto& problem : catalog.problems()) problems += problem.text() + "\n";
    const std::string at = directory.string() + "/";
    CHECK(problems == at + "dangling.so: unreadable: it cannot be opened: No such file or directory\n" +
                          at + "directory.so: unreadable: it is not a regular file, expected one: remove it\n" +
                          at + "text.so: not_elf: it is not an ELF file, expected a shared object\n" +
                          at + "zcopy.so: the id \"fixture\" belongs to " + at + "fixture.so already\n");
    CHECK(catalog.modules().size() == 2);
}

TEST_CASE("a directory without an SPI index has modules and serves nothing") {
    const TwoModules files;
    fs::remove_all(files.directory.path() / "spi");
    const ModuleCatalog catalog = files.scan();
    REQUIRE(catalog.problems().size() == 1);
    CHECK(catalog.problems()[0].message.find("the SPI index cannot be read") != std::string::npos);
    CHECK(catalog.entries().size() == 6);
    CHECK(catalog.selected("Plugin", "alpha") == nullptr);
    CHECK(ModuleCatalog::scan(files.directory.path() / "nowhere").problems().size() == 2);
}
