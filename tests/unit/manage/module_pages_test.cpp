#include "manage/module_pages.hpp"

#include "support/catch.hpp"
#include "unit/manage/fake_status.hpp"

using namespace weir;
using namespace weir::manage;

namespace {

using Modules = std::vector<ModuleStatus>;

ModuleStatus refused(const std::string& id, const std::string& file, const std::string& reason) {
    ModuleStatus module = pluginModule(id, 1, ModuleState::Refused);
    module.file = file;
    module.refusal = module::Refusal{module::RefusalCode::LoadFailed, {}, reason, {}, {}};
    return module;
}

base::Value page(const std::string& id, const Modules& modules) {
    const PageReply reply = modulePage(id, modules, {}, {});
    INFO(reply.body);
    CHECK(reply.status == 200);
    auto tree = base::parseJson(reply.body);
    REQUIRE(tree);
    return *tree;
}

std::string text(const base::Value& value, const char* name) {
    const base::Value* member = value.find(name);
    return member ? member->text() : "absent";
}

}  // namespace

TEST_CASE("the page of a module has all its facts") {
    ModuleStatus module = pluginModule("greet", 150);
    module.version = "1.2.0";
    module.sha256 = "abc";
    module.generation = 3;
    module.unload = module::Unload::Resident;
    module.keys[0].provided.fields = *base::parseJson(R"({"rule":[{"name":"text","type":"string"}]})");
    module.keys.push_back(pluginKey("other", 7, ModuleState::NotSelected));
    CHECK(modulePage("greet", {module}, {}, {}).body ==
          R"({"id":"greet","version":"1.2.0","state":"active","file":"/m/greet.so","generation":3,)"
          R"("since":"2026-11-30T00:00:00Z","sha256":"abc","unload":"resident","provides":[)"
          R"({"interface":"Plugin","key":"greet","order":150,"state":"active",)"
          R"("fields":{"rule":[{"name":"text","type":"string"}]}},)"
          R"({"interface":"Plugin","key":"other","order":7,"state":"not selected"}],)"
          R"("refused":[],"draining":[],"hanging":[]})");
}

TEST_CASE("a page goes by the module's id, else by a plugin's key") {
    ModuleStatus named = pluginModule("hello-module", 1);
    named.keys[0].provided.key = "hello";
    const Modules modules = {named, pluginModule("a", 1), balancerModule()};
    CHECK(text(page("hello", modules), "id") == "hello-module");
    CHECK(text(page("hello-module", modules), "id") == "hello-module");
    CHECK(modulePage("hash", modules, {}, {}).status == 404);
    CHECK(modulePage("x", modules, {}, {}).body ==
          R"({"code":404,"message":"There is no module and no plugin 'x'."})");
    const Modules twisted = {named, pluginModule("hello", 1)};
    CHECK(text(page("hello", twisted), "id") == "hello");
}

TEST_CASE("a refused replacement is told with the generation that serves") {
    Modules modules = {refused("hello.so", "/ext/hello.so", "no module"), pluginModule("hello", 1),
                       refused("hello", "/ext/copy.so", "serves already"), refused("other", "/ext/o.so", "no")};
    modules[1].file = "/ext/hello.so";
    const base::Value hello = page("hello", modules);
    CHECK(text(hello, "state") == "active");
    CHECK(text(hello, "reason") == "absent");
    const auto& others = hello.find("refused")->items();
    REQUIRE(others.size() == 2);
    CHECK(text(others[0], "reason") == "load_failed: no module");
    CHECK(text(others[1], "reason") == "load_failed: serves already");
    CHECK(text(others[1], "generation") == "absent");

    const base::Value file = page("hello.so", modules);  // what has no readable manifest goes by its file's name
    CHECK(text(file, "state") == "refused");
    CHECK(text(file, "reason") == "load_failed: no module");
    CHECK(text(page("other", modules), "reason") == "load_failed: no");
}

TEST_CASE("a generation that drains is told with how long it does") {
    Modules modules = {pluginModule("hello", 1, ModuleState::Draining)};
    modules[0].since = std::chrono::system_clock::now() - std::chrono::minutes(2);
    const base::Value removed = page("hello", modules);
    CHECK(text(removed, "state") == "draining");
    CHECK(std::stoi(text(removed, "drainingSeconds")) >= 120);
    modules.push_back(pluginModule("hello", 1));
    modules[1].generation = 2;
    const base::Value replaced = page("hello", modules);
    CHECK(text(replaced, "generation") == "2");
    CHECK(text(replaced, "drainingSeconds") == "absent");
    REQUIRE(replaced.find("draining")->items().size() == 1);
    CHECK(text(replaced.find("draining")->items()[0], "generation") == "1");
}

TEST_CASE("a load that hangs is told with how long it does, beside what serves") {
    Modules modules = {pluginModule("hello", 1), pluginModule("hello", 1, ModuleState::Hanging)};
    modules[1].since = std::chrono::system_clock::now() - std::chrono::minutes(2);
    const base::Value shown = page("hello", modules);
    CHECK(text(shown, "state") == "active");
    REQUIRE(shown.find("hanging")->items().size() == 1);
    CHECK(text(shown.find("hanging")->items()[0], "state") == "hanging");
    CHECK(std::stoi(text(shown.find("hanging")->items()[0], "hangingSeconds")) >= 120);
}

TEST_CASE("a roll-back that was refused is told with the generation that serves on") {
    Modules modules = {pluginModule("hello", 1)};
    modules[0].rollbackRefused = module::Refusal{module::RefusalCode::ConfigRefused, "rule 'r'", "bad", {}, {}};
    CHECK(text(*page("hello", modules).find("rollbackRefused"), "code") == "config_refused");
    CHECK(text(moduleRows(modules, {}).items()[0], "rollbackRefused") == "config_refused: rule 'r' is bad");
}

TEST_CASE("rows go by interface, order and key, then come what waits and what is refused") {
    const Modules modules = {refused("x.so", "/ext/x.so", "bad"), pluginModule("b", 5), pluginModule("late", 9),
                             pluginModule("a", 5), balancerModule(), pluginModule("a", 5, ModuleState::Draining)};
    const base::Value rows = moduleRows(modules, {"w"});
    std::string shown;
    for (const base::Value& row : rows.items())
        shown += text(row, "key") + "/" + text(row, "module") + "/" + text(row, "state") + " ";
    CHECK(shown == "hash/load-balancer/active a/a/active a/a/draining b/b/active late/late/active w//waiting "
                   "/x.so/refused ");
    CHECK(base::toJson(rows.items().back()) ==
          R"({"interface":"","key":"","module":"x.so","version":"0.1.0","state":"refused","file":"/ext/x.so",)"
          R"("since":"2026-11-30T00:00:00Z","reason":"load_failed: bad"})");
}
