#include "manage/data_pages.hpp"

#include "manage/pages.hpp"
#include "support/catch.hpp"
#include "unit/manage/fake_control.hpp"
#include "unit/manage/fake_status.hpp"

using namespace weir;
using namespace weir::manage;

namespace {

void fill(FakeControl& control) {
    data::PluginData plugin;
    plugin.name = "a";
    control.store.put(plugin);
    for (const char* id : {"1", "2"}) {
        data::SelectorData selector;
        selector.pluginName = "a";
        selector.id = id;
        control.store.put(selector);
        for (const char* owner : {"a", "b"}) {
            data::RuleData rule;
            rule.pluginName = owner;
            rule.selectorId = id;
            rule.id = id;
            control.store.put(rule);
        }
    }
    for (const auto& [id, path] : {std::pair("m", "/a/b"), {"n", "/a/*"}, {"o", "/a/b"}, {"p", "/{x}"}, {"q", "/?"}}) {
        data::MetaData metaData;
        metaData.id = id;
        metaData.path = path;
        control.store.put(metaData);
    }
    data::AppAuthData auth;
    auth.appKey = "k";
    auth.appSecret = config::Secret("s3cret");
    control.store.put(auth);
}

}  // namespace

TEST_CASE("the dumps are lists with one map, keyed as ShenYu's caches") {
    FakeStatus status;
    FakeControl control;
    fill(control);
    const Pages pages(status, {}, true, {&control, nullptr, false});
    auto dump = [&](std::string_view path) {
        const PageReply reply = pages.answer({"GET", path}, 1);
        CHECK(reply.status == 200);
        CHECK(reply.body.find("s3cret") == std::string::npos);
        const auto tree = base::parseJson(reply.body);
        REQUIRE(tree);
        REQUIRE(tree->items().size() == 1);
        return tree->items()[0];
    };
    CHECK(base::toJson(dump("/actuator/plugins")) == R"({"global":-1})");
    CHECK(dump("/actuator/pluginData").find("a")->find("name")->text() == "a");
    CHECK(dump("/actuator/selectorData?x").find("a")->items().size() == 2);
    const base::Value rules = dump("/actuator/ruleData");
    REQUIRE(rules.members().size() == 2);
    CHECK(rules.find("1")->items().size() == 2);
    CHECK(dump("/actuator/metadata").find("m")->find("id")->text() == "m");
    const base::Value byPath = dump("/actuator/metadataCache");
    REQUIRE(byPath.members().size() == 1);
    CHECK(byPath.find("/a/b")->find("id")->text() == "m");
    CHECK(base::toJson(dump("/actuator/selectorMatchCache")) == "{}");
    CHECK(base::toJson(dump("/actuator/ruleMatchCache")) == "{}");
    CHECK(pages.answer({"GET", "/actuator/info"}, 1).body == R"({"app":{"name":"weir"}})");
}

TEST_CASE("data of a plugin that no module provides is marked and listed as waiting until the module is there") {
    FakeStatus status;
    FakeControl control;
    fill(control);
    const Pages pages(status, {}, true, {&control, nullptr, false});
    const auto get = [&](std::string_view path) { return pages.answer({"GET", path}, 1).body; };
    const auto waits = [&](std::string_view path) { return get(path).find("\"waiting\":true") != std::string::npos; };
    const std::string row = R"({"interface":"Plugin","key":"a","module":"","version":"","state":"waiting"})";
    const std::string other = R"({"interface":"Plugin","key":"b","module":"","version":"","state":"waiting"})";

    status.found.push_back(pluginModule("b", 2, ModuleState::NotSelected));
    for (const char* dump : {"/actuator/pluginData", "/actuator/selectorData", "/actuator/ruleData"}) CHECK(waits(dump));
    CHECK_FALSE(waits("/actuator/metadata"));
    CHECK_THAT(get("/plugins"), Catch::Contains(row) && Catch::Contains(other));
    CHECK_THAT(get("/spi"), Catch::Contains(row) && Catch::Contains(other));
    CHECK_THAT(get("/plugins/a"), Catch::Contains("\"code\":404") && Catch::Contains("waits"));

    status.found.push_back(pluginModule("a", 1));
    CHECK_FALSE(waits("/actuator/pluginData"));
    CHECK_FALSE(waits("/actuator/selectorData"));
    CHECK(waits("/actuator/ruleData"));  // those of b
    CHECK_THAT(get("/plugins"), !Catch::Contains(row) && Catch::Contains(other));
    status.found.push_back(pluginModule("b", 2));
    CHECK_FALSE(waits("/actuator/ruleData"));
    CHECK_THAT(get("/plugins"), !Catch::Contains("waiting"));
}

TEST_CASE("the pages of the data ask for the token off loopback, the local calls for their own key") {
    FakeStatus status;
    FakeControl control;
    const Pages pages(status, config::Secret("t"), false, {&control, nullptr, false}, config::Secret(kSampleHash));
    CHECK(pages.answer({"GET", "/actuator/ruleData"}, 1).status == 401);
    CHECK(pages.answer({"GET", "/actuator/ruleData", "Bearer t"}, 1).status == 200);
    CHECK(pages.answer({"POST", "/actuator/ruleData", "Bearer t"}, 1).status == 405);
    CHECK(pages.answer({"GET", "/shenyu/cleanAll", "Bearer t"}, 1).status == 403);
    CHECK(pages.answer({"GET", "/shenyu/cleanAll", "", "123456"}, 1).status == 200);
}

TEST_CASE("without data there are neither dumps nor local calls") {
    FakeStatus status;
    const Pages pages(status, {}, true);
    for (const char* path : {"/actuator/plugins", "/actuator/pluginData", "/actuator/info", "/shenyu/cleanAll"}) {
        CHECK(pages.answer({"GET", path, "", "123456"}, 1).status == 404);
    }
}
