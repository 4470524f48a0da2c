#include "support/catch.hpp"
#include "unit/plugins/edit_host.hpp"
#include "unit/plugins/loaded_module.hpp"

using weir::test::EditExchange;
using weir::test::LoadedHandle;
using weir::test::LoadedPlugin;

namespace {

struct GeneralContext : LoadedPlugin {
    GeneralContext() : LoadedPlugin("generalContext", WEIR_TEST_PLUGINS, weir::test::editHost()) {}
};

std::string add(const char* key, const char* value) {
    return std::string(R"({"generalContextType":"addGeneralContext","generalContextKey":")") + key +
           R"(","generalContextValue":")" + value + R"("})";
}
std::string transmit(const char* header, const char* key) {
    return std::string(R"({"generalContextType":"transmitHeaderToGeneralContext","generalContextKey":")") + header +
           R"(","generalContextValue":")" + key + R"("})";
}

}  // namespace

TEST_CASE("generalContext leaves the attachments of the request's RPC type in an attribute") {
    struct Row { std::string entries; const char* attribute; };
    const Row rows[] = {
        {add("a", "1") + "," + add("b", "x=y"), "a=1\nb=x=y\n"},
        {add("a", "1") + "," + add("a", "2"), "a=2\n"},
        {add("a", ""), "a=\n"},
        {transmit("x-user", "user"), "user=one, two\n"},
        {transmit("X-User", " "), "X-User=one, two\n"},
        {transmit("X-Absent", "user"), "(none)"},
        {add("user", "nobody") + "," + transmit("X-Absent", "user"), "user=nobody\n"},
        {add("user", "nobody") + "," + transmit("X-User", "user"), "user=one, two\n"},
        {"", "(none)"},
    };
    const GeneralContext plugin;
    for (const Row& row : rows) {
        for (const char* type : {"dubbo", "grpc", "sofa", "tars", "http"}) {
            INFO(row.entries << " for " << type);
            const std::string own = std::string(type) == "http" ? "dubbo" : type;
            const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, "{\"" + own + "\":[" + row.entries + "]}");
            INFO(handle.error().whole());
            REQUIRE(handle.ok());
            EditExchange exchange("/", {{"X-User", "one"}, {"X-Other", "no"}, {"x-user", "two"}});
            exchange.slots[WEIR_SLOT_RPC_TYPE] = type;
            CHECK(enter(plugin, exchange, handle.get()) == WEIR_FORWARD);
            const auto found = exchange.attributes.find(5);
            const std::string attribute = found == exchange.attributes.end() ? "(none)" : found->second;
            CHECK(attribute == (std::string(type) == "http" ? "(none)" : row.attribute));
        }
    }
}

TEST_CASE("generalContext takes only the entries of the request's own RPC type") {
    const GeneralContext plugin;
    const LoadedHandle handle(plugin, WEIR_SCOPE_RULE,
                              R"({"dubbo":[)" + add("a", "1") + R"(],"tars":[)" + add("b", "2") + "]}");
    EditExchange exchange("/");
    exchange.slots[WEIR_SLOT_RPC_TYPE] = "tars";
    enter(plugin, exchange, handle.get());
    CHECK(exchange.attributes[5] == "b=2\n");
}

TEST_CASE("generalContext refuses attachments that could not be told apart") {
    struct Row { std::string handle; const char* message; };
    const Row rows[] = {
        {R"({"dubbo":[{"generalContextType":"add","generalContextKey":"a"}]})",
         "dubbo[0].generalContextType: expected one of addGeneralContext, transmitHeaderToGeneralContext, found 'add'"},
        {R"({"dubbo":[{"generalContextKey":"a"}]})", "dubbo[0].generalContextType: is required"},
        {R"({"dubbo":{}})", "dubbo: expected a list, found a map"},
        {"{\"grpc\":[" + add("a", "1") + "," + add(" ", "1") + "]}",
         "grpc[1].generalContextKey: an attachment's key is not blank and has no '=' and no control characters"},
        {"{\"sofa\":[" + add("a=b", "1") + "]}",
         "sofa[0].generalContextKey: an attachment's key is not blank and has no '=' and no control characters"},
        {"{\"tars\":[" + add("a", "1\\nb=2") + "]}",
         "tars[0].generalContextValue: an attachment's value has no control characters"},
        {"{\"dubbo\":[" + transmit("X User", "") + "]}",
         "dubbo[0].generalContextKey: expected the name of a header, found 'X User'"},
        {"{\"dubbo\":[" + transmit("X-User", "a=b") + "]}",
         "dubbo[0].generalContextValue: an attachment's key has no '=' and no control characters"},
    };
    const GeneralContext plugin;
    for (const Row& row : rows) {
        INFO(row.handle);
        const LoadedHandle handle(plugin, WEIR_SCOPE_RULE, row.handle);
        CHECK_FALSE(handle.ok());
        CHECK(handle.error().whole() == row.message);
    }
}
