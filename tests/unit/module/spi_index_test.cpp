#include "module/spi_index.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

std::string contentOf(const fs::path& file) {
    std::stringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
}

Manifest manifestOf(const std::string& id, const std::vector<std::pair<std::string, std::string>>& provides) {
    Manifest out;
    out.id = id;
    for (const auto& [interface, key] : provides) {
        Provided item;
        item.interface = interface;
        item.key = key;
        out.provides.push_back(item);
    }
    return out;
}

}  // namespace

TEST_CASE("the SPI index names the module of each key and where it stands") {
    weir::support::TempDirectory directory;
    write(directory.path() / "LoadBalancer", "# comment\n\n  random = load-balancer\nhash=other.so\r\n");
    write(directory.path() / "PredicateJudge", "= = judges\n== = judges\n");
    write(directory.path() / "LoadBalancer.bak", "not read");
    write(directory.path() / ".hidden", "not read");
    const auto index = SpiIndex::read(directory.path());
    REQUIRE(index);
    REQUIRE(index->lines().size() == 4);
    const SpiLine* random = index->find("LoadBalancer", "random");
    REQUIRE(random != nullptr);
    CHECK(random->module == "load-balancer");
    CHECK(random->origin == (directory.path() / "LoadBalancer").string() + ":3");
    CHECK(index->find("LoadBalancer", "hash")->module == "other.so");
    CHECK(index->find("PredicateJudge", "=")->module == "judges");
    CHECK(index->find("PredicateJudge", "==")->module == "judges");
    CHECK(index->find("Plugin", "random") == nullptr);
}

TEST_CASE("a broken line of the SPI index is refused with file and line") {
    struct Row {
        const char* text;
        const char* origin;
        const char* message;
    };
    const Row rows[] = {
        {"a = b\nnonsense\n", "LoadBalancer:2", "expected \"key = module\", not \"nonsense\""},
        {"= module\n", "LoadBalancer:1", "expected \"key = module\""},
        {"key =\n", "LoadBalancer:1", "expected \"key = module\""},
        {"key = one two\n", "LoadBalancer:1", "expected \"key = module\""},
        {"#\na = b\na = c\n", "LoadBalancer:3", "\"a\" was chosen before, at "},
    };
    for (const Row& row : rows) {
        weir::support::TempDirectory directory;
        write(directory.path() / "LoadBalancer", row.text);
        INFO(row.text);
        const auto index = SpiIndex::read(directory.path());
        REQUIRE_FALSE(index);
        CHECK(index.error().origin == (directory.path() / row.origin).string());
        CHECK(index.error().message.find(row.message) != std::string::npos);
    }
}

TEST_CASE("a missing SPI directory is told apart from an empty one") {
    weir::support::TempDirectory directory;
    CHECK(SpiIndex::read(directory.path()));
    const auto index = SpiIndex::read(directory.path() / "spi");
    REQUIRE_FALSE(index);
    CHECK(index.error().code == weir::base::ErrorCode::NotFound);
}

TEST_CASE("the SPI index is written from manifests and keeps what an operator chose") {
    weir::support::TempDirectory directory;
    const fs::path spi = directory.path() / "spi";
    const Manifest core =
        manifestOf("core", {{"LoadBalancer", "hash"}, {"LoadBalancer", "random"}, {"Plugin", "divide"}});
    REQUIRE(updateSpiFiles(spi, {core}));
    CHECK(contentOf(spi / "Plugin").find("\ndivide = core\n") != std::string::npos);
    CHECK(contentOf(spi / "LoadBalancer").find("\nhash = core\nrandom = core\n") != std::string::npos);

    SECTION("an unchanged file is not written again") {
        const auto before = fs::last_write_time(spi / "Plugin");
        fs::last_write_time(spi / "Plugin", before - std::chrono::hours(1));
        REQUIRE(updateSpiFiles(spi, {core}));
        CHECK(fs::last_write_time(spi / "Plugin") == before - std::chrono::hours(1));
    }
    SECTION("a chosen module, comments and order stay; stale lines go; new keys come") {
        const Manifest mine = manifestOf("mine", {{"LoadBalancer", "random"}, {"LoadBalancer", "best"}});
        write(spi / "LoadBalancer", "# ours is better\nrandom = mine\ngone = core\nhash = core\nhash2 = nobody\n");
        REQUIRE(updateSpiFiles(spi, {core, mine}));
        CHECK(contentOf(spi / "LoadBalancer") == "# ours is better\nrandom = mine\nhash = core\nbest = mine\n");
    }
    SECTION("the choice of a module that is gone falls back to the one left") {
        write(spi / "LoadBalancer", "random = mine\nhash = core\n");
        REQUIRE(updateSpiFiles(spi, {core}));
        CHECK(contentOf(spi / "LoadBalancer") == "hash = core\nrandom = core\n");
    }
    SECTION("a new key of two modules needs a choice") {
        const Manifest a = manifestOf("a", {{"Plugin", "x"}});
        const Manifest b = manifestOf("b", {{"Plugin", "x"}});
        const auto updated = updateSpiFiles(spi, {core, a, b});
        REQUIRE_FALSE(updated);
        CHECK(updated.error().message.find("both a and b provide \"x\"") != std::string::npos);
    }
    SECTION("a line that makes no sense stops the update") {
        write(spi / "Plugin", "divide: core\n");
        REQUIRE_FALSE(updateSpiFiles(spi, {core}));
        CHECK(contentOf(spi / "Plugin") == "divide: core\n");
    }
}
