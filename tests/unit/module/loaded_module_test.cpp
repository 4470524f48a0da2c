#include "module/loaded_module.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fixtures/fixture_files.hpp"
#include "support/catch.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<StagingDirectory> makeStaging() {
    auto staging = StagingDirectory::create();
    REQUIRE(staging);
    return std::move(staging).value();
}

}  // namespace

TEST_CASE("a staging directory is private and goes away with its files") {
    fs::path path;
    {
        const auto staging = makeStaging();
        path = staging->path();
        struct stat status {};
        REQUIRE(::stat(path.c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0700);
        const auto first = staging->write("m", "bytes");
        const auto second = staging->write("m", "bytes");
        REQUIRE(first);
        REQUIRE(second);
        CHECK(*first != *second);
        CHECK(fs::file_size(*first) == 5);
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a loaded module shows its tables and is gone when destroyed") {
    const auto staging = makeStaging();
    auto loaded = LoadedModule::load(fixtureFile("fixture"), *staging);
    if (!loaded) FAIL(loaded.error().text());
    const fs::path staged = (*loaded)->stagedFile();
    CHECK(staged.parent_path() == staging->path());
    CHECK(isMapped(staged));

    LoadedModule& fixture = **loaded;
    CHECK(fixture.file() == fixtureFile("fixture"));
    CHECK(fixture.manifest().id == "fixture");
    CHECK(fixture.manifest().find("Plugin", "alpha")->fields.find("rule")->items().at(0).find("default")->text() ==
          "a;b [c] \"d\" \\ é");
    REQUIRE(fixture.plugins().size() == 2);
    REQUIRE(fixture.findPlugin("beta") != nullptr);
    CHECK(fixture.findPlugin("beta")->enter(nullptr, nullptr, nullptr, nullptr) == WEIR_FORWARD);
    CHECK(fixture.findPlugin("pick") == nullptr);
    REQUIRE(fixture.loadBalancers().size() == 1);
    CHECK(fixture.findLoadBalancer("pick")->pick(nullptr, nullptr) == 0);
    CHECK(fixture.dataHandlers().empty());
    CHECK(fixture.findDataHandler("alpha") == nullptr);

    loaded->reset();
    CHECK_FALSE(isMapped(staged));
    CHECK_FALSE(fs::exists(staged));
}

TEST_CASE("a module that provides only a data handler is loaded") {
    const auto staging = makeStaging();
    const auto loaded = LoadedModule::load(fixtureFile("handler"), *staging);
    if (!loaded) FAIL(loaded.error().text());
    const LoadedModule& module = **loaded;
    CHECK(module.manifest().find(kPluginDataHandlerInterface, "divide") != nullptr);
    CHECK(module.plugins().empty());
    CHECK(module.loadBalancers().empty());
    REQUIRE(module.dataHandlers().size() == 1);
    const weir_plugin_data_handler* table = module.findDataHandler("divide");
    REQUIRE(table == module.dataHandlers()[0]);
    CHECK(module.findDataHandler("") == nullptr);

    void* handler = nullptr;
    REQUIRE(table->create(nullptr, &handler, nullptr) == WEIR_OK);
    table->upserted(handler, WEIR_DATA_SELECTOR, nullptr);
    table->removed(handler, WEIR_DATA_SELECTOR, nullptr);
    CHECK(*static_cast<int*>(handler) == 2);
    table->destroy(handler);
}

TEST_CASE("a module that provides only what conditions use is loaded") {
    const auto staging = makeStaging();
    const auto loaded = LoadedModule::load(fixtureFile("matching"), *staging);
    if (!loaded) FAIL(loaded.error().text());
    const LoadedModule& module = **loaded;
    CHECK(module.manifest().find(kParameterDataInterface, "zone") != nullptr);
    CHECK(module.manifest().find(kPredicateJudgeInterface, "near") != nullptr);
    CHECK(module.manifest().find(kMatchStrategyInterface, "most") != nullptr);
    CHECK(module.plugins().empty());

    REQUIRE(module.parameterData().size() == 1);
    REQUIRE(module.findParameterData("zone") == module.parameterData()[0]);
    CHECK(module.findParameterData("zone")->read(nullptr, nullptr).size == 4);
    CHECK(module.findParameterData("near") == nullptr);
    REQUIRE(module.predicateJudges().size() == 1);
    REQUIRE(module.findPredicateJudge("near") == module.predicateJudges()[0]);
    CHECK(module.findPredicateJudge("near")->judge(nullptr, {"west", 4}) == 1);
    CHECK(module.findPredicateJudge("nea") == nullptr);
    REQUIRE(module.matchStrategies().size() == 1);
    REQUIRE(module.findMatchStrategy("most") == module.matchStrategies()[0]);
    const weir_conditions conditions{sizeof conditions, 1, nullptr};
    CHECK(module.findMatchStrategy("most")->match(nullptr, &conditions) == 0);
    CHECK(module.findMatchStrategy("") == nullptr);
}

TEST_CASE("two generations of one file live side by side") {
    const auto staging = makeStaging();
    const auto first = LoadedModule::load(fixtureFile("fixture"), *staging);
    const auto second = LoadedModule::load(fixtureFile("fixture"), *staging);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first.value()->findPlugin("alpha") != second.value()->findPlugin("alpha"));
}

TEST_CASE("a file that is overwritten after loading harms nothing") {
    weir::support::TempDirectory directory;
    const auto staging = makeStaging();
    fs::copy_file(fixtureFile("fixture"), directory.path() / "m.so");
    auto loaded = LoadedModule::load(directory.path() / "m.so", *staging);
    REQUIRE(loaded);
    std::ofstream(directory.path() / "m.so") << "x";
    CHECK((*loaded)->findPlugin("alpha")->enter(nullptr, nullptr, nullptr, nullptr) == WEIR_FORWARD);
}

TEST_CASE("a resident module stays mapped, its file does not stay") {
    const auto staging = makeStaging();
    auto loaded = LoadedModule::load(fixtureFile("resident"), *staging);
    REQUIRE(loaded);
    CHECK((*loaded)->manifest().unload == Unload::Resident);
    const fs::path staged = (*loaded)->stagedFile();
    loaded->reset();
    CHECK(isMapped(staged));
    CHECK_FALSE(fs::exists(staged));
}

TEST_CASE("a module that breaks the contract is refused with the reason and leaves nothing behind") {
    struct Row {
        const char* fixture;
        const char* from;  // of the manifest
        const char* with;
        const char* message;
    };
    const Row rows[] = {
        {"other-abi", "", "", "abi_mismatch: the module's ABI is 9, expected 1, this gateway's: build it with"},
        {"other-abi", "\"abi\":9", "\"abi\":1", "abi_mismatch: the module's ABI is 9, expected 1"},
        {"small-table", "", "", "table_too_small: the table of Plugin[0] is 40 bytes, expected 88 or more"},
        {"no-enter", "", "", "bad_tables: Plugin[0] \"alpha\" is without a required function"},
        {"small-handler", "", "", "table_too_small: the table of PluginDataHandler[0] is 48 bytes, expected 56"},
        {"no-removed", "", "", "bad_tables: PluginDataHandler[0] \"divide\" is without a required function"},
        {"handler", "\"divide\"", "\"divine\"",
         "bad_tables: PluginDataHandler[0].key is \"divide\", expected one that its manifest names"},
        {"handler", "\"PluginDataHandler\"", "\"PluginDataHandleX\"",
         "bad_tables: the list of weir.plugin_data_handler/1 is 1, expected 0 as its manifest says"},
        {"small-parameter", "", "", "table_too_small: the table of ParameterData[0] is 40 bytes, expected 48 or more"},
        {"small-judge", "", "", "table_too_small: the table of PredicateJudge[0] is 40 bytes, expected 48 or more"},
        {"small-strategy", "", "", "table_too_small: the table of MatchStrategy[0] is 40 bytes, expected 48 or more"},
        {"no-read", "", "", "bad_tables: ParameterData[0] \"zone\" is without a required function"},
        {"no-judge", "", "", "bad_tables: PredicateJudge[0] \"near\" is without a required function"},
        {"no-match", "", "", "bad_tables: MatchStrategy[0] \"most\" is without a required function"},
        {"matching", "\"zone\"", "\"zona\"", "bad_tables: ParameterData[0].key is \"zone\", expected one that"},
        {"matching", "\"near\"", "\"neat\"", "bad_tables: PredicateJudge[0].key is \"near\", expected one that"},
        {"matching", "\"MatchStrategy\"", "\"MatchStrategX\"",
         "bad_tables: the list of weir.match_strategy/1 is 1, expected 0 as its manifest says"},
        {"matching", "\"PredicateJudge\",\"key\":\"near\"", "\"PredicateJudge\",\"key\":\">\"   ",
         "core_key: provides[1] is PredicateJudge '>', which is built in: give it a key of its own"},
        {"fixture", "\"key\":\"alpha\"", "\"key\":\"alphx\"", "bad_tables: Plugin[0].key is \"alpha\""},
        {"fixture", "\"Plugin\",\"key\":\"beta\"", "\"Future\",\"key\":\"beta\"",
         "bad_tables: the list of weir.plugin/1 is 2, expected 1 as its manifest says"},
        {"fixture", "\"LoadBalancer\"", "\"LoadBalanceX\"", "bad_tables: the list of weir.load_balancer/1 is 1"},
        {"handler", "\"PluginDataHandler\",\"key\":\"divide\"", "\"Plugin\",\"order\":1,\"key\":\"divid\"  ",
         "bad_tables: the list of weir.plugin/1 is missing, expected 1 as its manifest says"},
        {"fixture", "\"schema\":1", "\"schema\":2", "bad_manifest: schema is 2, expected a whole number from 1 to 1"},
    };
    for (const Row& row : rows) {
        weir::support::TempDirectory directory;
        const auto staging = makeStaging();
        const fs::path file = directory.path() / "m.so";
        copyPatched(row.fixture, file, row.from, row.with);
        const auto loaded = LoadedModule::load(file, *staging);
        INFO(row.message);
        REQUIRE_FALSE(loaded);
        INFO(loaded.error().text());
        CHECK(loaded.error().text().starts_with(row.message));
        CHECK(std::ranges::none_of(fs::directory_iterator(staging->path()),
                                   [](const auto& entry) { return entry.path().extension() == ".so"; }));
        CHECK_FALSE(isMapped(staging->path()));
    }
}

TEST_CASE("a module cut short is refused before the dynamic loader sees it") {
    weir::support::TempDirectory directory;
    const auto staging = makeStaging();
    const fs::path file = directory.path() / "m.so";
    fs::copy_file(fixtureFile("fixture"), file);
    fs::resize_file(file, 4096);
    const auto loaded = LoadedModule::load(file, *staging);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == RefusalCode::Truncated);
}
