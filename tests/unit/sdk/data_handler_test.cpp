#include "weir/data_handler.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/sdk/fake_host.hpp"
#include "weir/module.hpp"

using weir::PluginDataHandler;
using weir::Value;
using weir::test::FakeError;
using weir::test::FakeValue;
using Lines = std::vector<std::string>;

namespace {

Lines heard;
Lines logged;

// The fake host, with a log that is kept.
const weir_host& host() {
    static const weir_host table = [] {
        weir_host made = weir::test::fakeHost();
        made.log = [](weir_log_level level, weir_str text) {
            logged.push_back(std::to_string(level) + " " + weir::test::text(text));
        };
        return made;
    }();
    return table;
}

struct Recorder : PluginDataHandler {
    Recorder() { heard.push_back("created"); }
    ~Recorder() override { heard.push_back("destroyed"); }

private:
    static void note(const char* what, Value record) {
        heard.push_back(std::string(what) + " " + std::string(record["id"].text()));
    }
    void onPlugin(Value record) override { note("plugin", record); }
    void onSelector(Value record) override { note("selector", record); }
    void onRule(Value record) override { note("rule", record); }
    void onPluginRemoved(Value record) override { note("plugin removed", record); }
    void onSelectorRemoved(Value record) override { note("selector removed", record); }
    void onRuleRemoved(Value record) override { note("rule removed", record); }
};
struct Deaf : PluginDataHandler {};
struct Thrower : PluginDataHandler {
    void onSelector(Value) override { throw std::runtime_error("no such zone"); }
    void onRuleRemoved(Value) override { throw 7; }
};
struct Unborn : PluginDataHandler {
    Unborn() { throw std::runtime_error("no licence"); }
};

// A handler as the host holds it.
class Handler {
public:
    explicit Handler(const weir::detail::DataHandlerEntry& entry) : table_(entry.table) {
        heard.clear();
        logged.clear();
        FakeError error;
        REQUIRE(table_.create(&host(), &raw_, error.raw()) == WEIR_OK);
        weir::detail::hostTable = &host();  // an earlier test of this program may have adopted another table
    }
    ~Handler() { table_.destroy(raw_); }
    Handler(const Handler&) = delete;

    void upserted(weir_data_kind kind, const char* json) { table_.upserted(raw_, kind, FakeValue(json).raw()); }
    void removed(weir_data_kind kind, const char* json) { table_.removed(raw_, kind, FakeValue(json).raw()); }

private:
    weir_plugin_data_handler table_;
    void* raw_ = nullptr;
};

}  // namespace

TEST_CASE("a data handler hears each kind of record, upserted and removed") {
    {
        Handler handler(weir::pluginDataHandler<Recorder>("divide"));
        handler.upserted(WEIR_DATA_PLUGIN, R"({"id":"p"})");
        handler.upserted(WEIR_DATA_SELECTOR, R"({"id":"s"})");
        handler.upserted(WEIR_DATA_RULE, R"({"id":"r"})");
        handler.removed(WEIR_DATA_RULE, R"({"id":"r"})");
        handler.removed(WEIR_DATA_SELECTOR, R"({"id":"s"})");
        handler.removed(WEIR_DATA_PLUGIN, R"({"id":"p"})");
    }
    CHECK(heard == Lines{"created", "plugin p", "selector s", "rule r", "rule removed r", "selector removed s",
                         "plugin removed p", "destroyed"});
}

TEST_CASE("a data handler need not want everything") {
    Handler handler(weir::pluginDataHandler<Deaf>("divide"));
    for (const weir_data_kind kind : {WEIR_DATA_PLUGIN, WEIR_DATA_SELECTOR, WEIR_DATA_RULE}) {
        handler.upserted(kind, "{}");
        handler.removed(kind, "{}");
    }
    CHECK(logged.empty());
}

TEST_CASE("a kind of record that is younger than the module is passed over") {
    Handler handler(weir::pluginDataHandler<Recorder>("divide"));
    handler.upserted(static_cast<weir_data_kind>(3), R"({"id":"x"})");
    handler.removed(static_cast<weir_data_kind>(3), R"({"id":"x"})");
    CHECK(heard == Lines{"created"});
}

TEST_CASE("what a data handler throws is logged with the record's id") {
    Handler handler(weir::pluginDataHandler<Thrower>("divide"));
    handler.upserted(WEIR_DATA_SELECTOR, R"({"id":"17"})");
    handler.removed(WEIR_DATA_RULE, R"({"name":"without id"})");
    CHECK(logged == Lines{"3 onSelector() threw for the record \"17\": no such zone",
                          "3 onRuleRemoved() threw for the record \"\": an exception of an unknown type"});
}

TEST_CASE("a data handler that cannot be constructed is refused with the reason") {
    const weir_plugin_data_handler table = weir::pluginDataHandler<Unborn>("divide").table;
    FakeError error;
    void* handler = nullptr;
    CHECK(table.create(&host(), &handler, error.raw()) == WEIR_INVALID);
    CHECK(handler == nullptr);
    CHECK(error.text == "no licence");
}

TEST_CASE("a module may provide a data handler and nothing else") {
    const weir::detail::Provided module{weir::pluginDataHandler<Deaf>("divide")};
    const auto* list =
        static_cast<const weir_plugin_data_handler_list*>(module.find(WEIR_INTERFACE_PLUGIN_DATA_HANDLER));
    REQUIRE(list);
    CHECK(list->size == sizeof *list);
    CHECK(list->count == 1);
    CHECK(weir::test::text(list->items[0]->key) == "divide");
    CHECK(list->items[0]->size == sizeof(weir_plugin_data_handler));
    CHECK(module.find(WEIR_INTERFACE_PLUGIN) == nullptr);
    CHECK(module.find(WEIR_INTERFACE_LOAD_BALANCER) == nullptr);
}
