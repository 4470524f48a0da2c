#include "data/data_store.hpp"

#include "unit/data/store_harness.hpp"

using namespace weir;
using namespace weir::data;

namespace {

// One selector with the id 1 and this name, in the plugin a.
DataSet fileWith(const std::string& name) {
    return fileData("plugins: [{name: a, selectors: [{id: '1', name: " + name + "}]}]");
}
const EntryKey kOne{EntryKind::Selector, "a", "1"};

// A gateway that has been stopped and started with these files.
DataStore restarted(const DataStore& store, const DataSet& files) {
    DataStore next;
    next.reload(files);
    next.restore(store.changes());
    return next;
}

}  // namespace

TEST_CASE("entries that calls put in stand where their sort says and replace their like") {
    DataStore store;
    store.put(selector("b", "1", 5));
    store.put(selector("a", "2", 9));
    store.put(selector("a", "1", 10));
    store.put(selector("a", "3", 9));
    CHECK(entriesOf(store) == "s:a/2=s s:a/3=s s:a/1=s s:b/1=s");
    store.put(selector("a", "1", 1, "new"));
    CHECK(entriesOf(store) == "s:a/1=new s:a/2=s s:a/3=s s:b/1=s");
    store.put(rule("a", "1", "7"));
    store.put(rule("a", "2", "7"));
    CHECK(store.data().rules.size() == 1);
    CHECK(store.data().rulesOf("a", "2").size() == 1);
}

TEST_CASE("removing takes out one entry, or a plugin with all below it, or all plugins") {
    DataStore store;
    store.reload(fileData("{plugins: [{name: a, selectors: [{name: s, rules: [{name: r}]}]}, {name: b, selectors: "
                          "[{name: s}]}], metadata: [{path: /m}], appAuth: [{appKey: k, appSecret: x}]}"));
    const DataStore all = store;
    CHECK(entriesOf(all) == "p:a p:b s:a/a/s=s s:b/b/s=s r:a/a/s/a/s/r m:/m a:k=x");

    CHECK(store.remove({EntryKind::Selector, "a", "a/s"}));
    CHECK_FALSE(store.remove({EntryKind::Selector, "a", "a/s"}));
    CHECK(store.remove({EntryKind::MetaData, "", "/m"}));
    CHECK(store.remove({EntryKind::AppAuth, "", "k"}));
    CHECK(entriesOf(store) == "p:a p:b s:b/b/s=s r:a/a/s/a/s/r");
    store = all;
    store.cleanPlugin("a");
    CHECK(entriesOf(store) == "p:b s:b/b/s=s m:/m a:k=x");
    store = all;
    store.removeAllPlugins();
    CHECK(entriesOf(store) == "s:a/a/s=s s:b/b/s=s r:a/a/s/a/s/r m:/m a:k=x");
    store = all;
    store.cleanAll();
    CHECK(entriesOf(store) == "m:/m a:k=x");
    store.reload(fileData("plugins: [{name: a}]"));
    CHECK(entriesOf(store) == "");
}

TEST_CASE("between files and calls the last change wins, entry by entry") {
    struct Row {
        const char* call;          // the name it gives the selector; "-": removes it; "": does nothing
        const char* nextFile;      // likewise the file's next version; "-": without the selector
        const char* inForce;
        const char* afterRestart;  // with that file
    };
    const Row rows[] = {
        {"", "v1", "v1", "v1"},     {"", "v2", "v2", "v2"},     {"", "-", "", ""},
        {"c", "v1", "c", "c"},      {"c", "v2", "v2", "v2"},    {"c", "-", "c", "c"},
        {"-", "v1", "", ""},        {"-", "v2", "v2", "v2"},    {"-", "-", "", ""},
        {"v1", "-", "v1", "v1"},
    };
    for (const Row& row : rows) {
        INFO(row.call << " then " << row.nextFile);
        DataStore store;
        store.reload(fileWith("v1"));
        if (row.call == std::string("-")) store.remove(kOne);
        else if (*row.call) store.put(selector("a", "1", 1, row.call));
        const bool without = row.nextFile == std::string("-");
        const DataSet next = without ? fileData("plugins: [{name: a}]") : fileWith(row.nextFile);
        const DataStore stopped = store;
        store.reload(next);
        auto name = [](const DataStore& of) {
            return of.data().selectors.empty() ? std::string() : of.data().selectors[0]->name;
        };
        CHECK(name(store) == row.inForce);
        CHECK(name(restarted(store, next)) == row.afterRestart);
        // The file may as well change while the gateway is down.
        CHECK(name(restarted(stopped, next)) == row.afterRestart);
    }
}

TEST_CASE("what vanished from the files and comes back is a change of the files") {
    for (const char* call : {"c", "-"}) {
        DataStore store;
        store.reload(fileWith("v1"));
        if (call == std::string("-")) store.remove(kOne);
        else store.put(selector("a", "1", 1, call));
        store.reload({});
        store.reload(fileWith("v1"));
        CHECK(entriesOf(store) == "p:a s:a/1=v1");
        CHECK(store.changes().empty());
    }
}

TEST_CASE("lines that only moved change nothing but where the entries are from") {
    DataStore store;
    store.reload(fileWith("v1"));
    store.put(selector("a", "1", 1, "c"));
    store.reload(fileData("\n\nplugins:\n  - name: a\n    selectors:\n      - {name: v1, id: '1'}\n"));
    CHECK(entriesOf(store) == "p:a s:a/1=c");
    CHECK(store.data().plugins[0]->origin.mark.line == 4);
}

TEST_CASE("only what calls changed is kept over a restart") {
    DataStore store;
    store.reload(fileWith("v1"));
    CHECK(store.changes().empty());
    store.put(selector("a", "9", 1));
    CHECK(store.changes().size() == 1);
    store.remove({EntryKind::Selector, "a", "9"});
    CHECK(store.changes().empty());
    store.remove(kOne);
    AppAuthData auth;
    auth.appKey = "k";
    auth.appSecret = config::Secret("x");
    store.put(auth);
    REQUIRE(store.changes().size() == 2);
    CHECK(store.changes()[0].key == kOne);
    CHECK(store.changes()[0].fileHash.size() == 64);
    CHECK(std::holds_alternative<std::monostate>(store.changes()[0].content));
    CHECK(store.changes()[1].fileHash == "");
    CHECK(entriesOf(restarted(store, fileWith("v1"))) == "p:a a:k=x");
    CHECK(entriesOf(restarted(store, fileWith("v2"))) == "p:a s:a/1=v2 a:k=x");
}

TEST_CASE("another app secret in the file is a change of the file") {
    DataStore store;
    store.reload(fileData("appAuth: [{appKey: k, appSecret: one}]"));
    AppAuthData auth = store.data().appAuth[0];
    auth.open = true;
    store.put(auth);
    store.reload(fileData("appAuth: [{appKey: k, appSecret: two}]"));
    CHECK(entriesOf(store) == "a:k=two");
}
