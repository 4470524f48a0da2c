#include "data/data_snapshot.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "support/temp_directory.hpp"
#include "unit/data/store_harness.hpp"

using namespace weir;
using namespace weir::data;
namespace fs = std::filesystem;

namespace {

const char* const kFile =
    "{plugins: [{name: a, selectors: [{id: '1', name: s}]}, {name: b}], appAuth: [{appKey: k, appSecret: x}]}";

// A store that calls have changed in every way.
DataStore changedStore() {
    DataStore store;
    store.reload(fileData(kFile));
    store.remove({EntryKind::Selector, "a", "1"});
    PluginData plugin = store.data().plugins[1];
    plugin.enabled = false;
    store.put(plugin);
    SelectorData fresh = selector("waiting", "2", 3, "say \"hi\"\n");
    fresh.conditions.push_back({"uri", "match", "", "/**", {}});
    fresh.handle = *base::parseJson(R"([{"upstreamUrl":"u","weight":50}])");
    store.put(fresh);
    store.put(rule("waiting", "2", "3"));
    MetaData metaData;
    metaData.id = "m";
    metaData.path = "/m/**";
    store.put(metaData);
    AppAuthData auth;
    auth.appKey = "other";
    auth.appSecret = config::Secret("s3cret");
    store.put(auth);
    return store;
}

std::string textOf(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> namesIn(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
    return names;
}

}  // namespace

TEST_CASE("a snapshot brings back what calls changed, and only the owner may read it") {
    support::TempDirectory directory;
    const fs::path file = directory.path() / "data.json";
    directory.write(".data.json.new", "left behind by a crash");
    const DataStore store = changedStore();
    REQUIRE(saveSnapshot(file, store.changes()));
    REQUIRE(saveSnapshot(file, store.changes()));
    CHECK(namesIn(directory.path()) == std::vector<std::string>{"data.json"});
    struct stat status {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);

    std::vector<std::string> warnings;
    auto loaded = loadSnapshot(file, warnings);
    REQUIRE(loaded);
    CHECK(warnings.empty());
    DataStore next;
    next.reload(fileData(kFile));
    next.restore(*loaded);
    CHECK(entriesOf(next) == entriesOf(store));
    CHECK(entriesOf(next) == "p:a p:b(off) s:waiting/2=say \"hi\"\n r:waiting/2/3 m:m a:k=x a:other=s3cret");
    CHECK(base::toJson(next.data().selectors[0]->handle) == R"([{"upstreamUrl":"u","weight":50}])");
    CHECK(next.data().selectors[0]->conditions[0].paramValue == "/**");
    CHECK(next.data().selectors[0]->origin.file == file.string());
}

TEST_CASE("without a snapshot nothing is restored, an empty one is no damage") {
    support::TempDirectory directory;
    const fs::path file = directory.path() / "data.json";
    std::vector<std::string> warnings;
    auto none = loadSnapshot(file, warnings);
    REQUIRE(none);
    CHECK(none->empty());
    REQUIRE(saveSnapshot(file, {}));
    auto empty = loadSnapshot(file, warnings);
    REQUIRE(empty);
    CHECK(empty->empty());
    CHECK(warnings.empty());
}

TEST_CASE("a damaged snapshot is set aside with a message") {
    support::TempDirectory origin;
    const fs::path good = origin.path() / "good.json";
    REQUIRE(saveSnapshot(good, changedStore().changes()));
    const std::string text = textOf(good);
    std::string flipped = text;
    flipped[text.find("s3cret")] = 'S';
    struct Row { const char* what; std::string text; };
    const Row rows[] = {
        {"empty", ""},
        {"cut", text.substr(0, text.size() / 2)},
        {"without its last byte", text.substr(0, text.size() - 1)},
        {"one byte other", flipped},
        {"longer", text + "\n"},
        {"something else", "weir: {}\n"},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        support::TempDirectory directory;
        const fs::path file = directory.write("data.json", row.text);
        std::vector<std::string> warnings;
        auto loaded = loadSnapshot(file, warnings);
        REQUIRE(loaded);
        CHECK(loaded->empty());
        REQUIRE(warnings.size() == 1);
        CHECK_THAT(warnings[0], Catch::Contains("damaged and ignored: " + file.string()));
        CHECK_THAT(warnings[0], !Catch::Contains("3cret"));
        const auto names = namesIn(directory.path());
        REQUIRE(names.size() == 1);
        CHECK_THAT(names[0], Catch::StartsWith("data.json.damaged-2"));
        CHECK(textOf(directory.path() / names[0]) == row.text);
    }
}

TEST_CASE("a place that cannot be written is an error that names it") {
    support::TempDirectory directory;
    auto saved = saveSnapshot(directory.path() / "no/such/data.json", {});
    REQUIRE_FALSE(saved);
    CHECK_THAT(saved.error().text(), Catch::Contains("no/such/.data.json.new: cannot be written: No such file"));
    std::vector<std::string> warnings;
    CHECK_FALSE(loadSnapshot(directory.path(), warnings));
}
