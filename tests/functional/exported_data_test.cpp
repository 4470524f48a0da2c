// What a ShenYu user exports, in the JSON of its admin (nulls) and of its synchronisation (escapes, no nulls), is taken
// as it is: fixtures/exported has a record in each line.
#include <fstream>
#include <map>

#include "base/value.hpp"
#include "functional/local_caller.hpp"
#include "support/catch.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

using namespace weir::support;
using namespace weir::functional;

namespace {

using weir::base::Value;

Value parsed(const std::string& json) {
    auto value = weir::base::parseJson(json);
    if (!value.ok()) throw std::runtime_error("no JSON: " + json);
    return std::move(value).value();
}

// The services of the export, whose addresses stand in it as these names.
class Services {
public:
    Services() {
        for (const char* name : {"ORDERS", "BETA", "ACME", "INTERNAL", "REPORTS"}) {
            upstreams_[name] = std::make_unique<RecordingUpstream>([name](const HttpMessage& request) {
                return RecordingUpstream::ok(std::string(name) + " " + request.startLine);
            });
        }
    }
    std::string addressed(std::string text) const {
        for (const auto& [name, upstream] : upstreams_) {
            const std::string word = "\\\"" + name + "\\\"";
            const auto at = text.find(word);
            if (at != std::string::npos) text.replace(at + 2, name.size(), upstream->address());
        }
        return text;
    }

private:
    std::map<std::string, std::unique_ptr<RecordingUpstream>> upstreams_;
};

struct Export {
    std::vector<std::string> plugins;
    std::vector<std::string> selectors;
    std::vector<std::string> rules;
};

std::vector<std::string> lines(const std::string& name, const Services& services) {
    std::ifstream file(std::string(WEIR_TEST_EXPORTED) + "/" + name);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(services.addressed(line));
    REQUIRE(!all.empty());
    return all;
}

void load(const LocalCaller& caller, const Export& data) {
    for (const std::string& plugin : data.plugins) {
        INFO(plugin);
        CHECK(caller.post("/shenyu/plugin/saveOrUpdate", plugin).body == "success");
    }
    for (const std::string& selector : data.selectors) {
        INFO(selector);
        CHECK(caller.post(kSelectorCall, selector).body == parsed(selector).find("id")->text());
    }
    for (const std::string& rule : data.rules) {
        INFO(rule);
        CHECK(caller.post(kRuleCall, rule).body == parsed(rule).find("id")->text());
    }
}

// What the gateway gives back.
Export found(const LocalCaller& caller, const Export& data) {
    Export out;
    const auto add = [&](const std::string& path, std::vector<std::string>& records) {
        const Value list = parsed(caller.get(path).body);
        for (const Value& item : list.items()) records.push_back(weir::base::toJson(item));
    };
    for (const char* plugin : {"contextPath", "divide"}) {
        out.plugins.push_back(caller.get(std::string("/shenyu/plugin/findByName?name=") + plugin).body);
        add(std::string("/shenyu/plugin/selector/findList?pluginName=") + plugin, out.selectors);
    }
    for (const std::string& selector : data.selectors) {
        const std::string path = "/shenyu/plugin/rule/findList?selectorId=" + parsed(selector).find("id")->text();
        if (caller.get(path).body[0] == '[') add(path, out.rules);
    }
    return out;
}

void checkRoutes(const GatewayProcess& gateway) {
    struct Row {
        const char* request;
        const char* fields;
        const char* answer;  // service and path, or an error's code
    };
    const Row rows[] = {
        {"GET /http/order/findById?id=1", "", "ORDERS GET /order/findById?id=1"},
        {"PUT /http/order/findById", "Content-Length: 0\r\n", "-102"},
        {"GET /http/order/before", "", "-102"},
        {"POST /http/order/save", "Content-Length: 0\r\n", "ORDERS POST /order/save"},
        {"GET /http/order/save", "", "-102"},
        {"GET /http/order/expired", "", "-102"},
        {"GET /http/order/current", "", "ORDERS GET /order/current"},
        {"GET /http/order/blank/1", "", "ORDERS GET /order/blank/1"},
        {"GET /http/order/blank/1", "X-Shop: a\r\n", "-102"},
        {"GET /http/order/x/list", "", "ORDERS GET /order/x/list"},
        {"GET /http/order/list/secret/1", "", "-102"},
        {"GET /http/order/item-123", "", "ORDERS GET /order/item-123"},
        {"GET /http/order/item-12345", "", "-102"},
        {"GET /http/order/item-1?colour=dark+red", "", "ORDERS GET /order/item-1?colour=dark+red"},
        {"GET /http/order/off", "", "-102"},
        {"GET /http/order/off", "x-beta: yes\r\n", "BETA GET /order/off"},
        {"GET /http/order/findById", "X-Beta: no\r\n", "ORDERS GET /order/findById"},
        {"GET /http/before", "", "-107"},
        {"GET /shop?tenant=a%26b+%3C%3E%27", "", "ACME GET /v1/shop?tenant=a%26b+%3C%3E%27"},
        {"GET /shop?tenant=ab", "", "-107"},
        {"GET /shop", "Cookie: x=y; tenant=acme\r\n", "ACME GET /v1/shop"},
        {"GET /shop", "Cookie: tenant=acmes\r\n", "-107"},
        {"GET http://ACME.example:80/shop", "", "ACME GET /v1/shop"},
        {"GET /shop", "X-Tenant: acme-123\r\n", "ACME GET /v1/shop"},
        {"GET /shop", "X-Tenant: acme-1\r\n", "-107"},
        {"GET /http/order/findById?tenant=a%26b+%3C%3E%27", "",  // "or" is of the lowest rank
         "ORDERS GET /order/findById?tenant=a%26b+%3C%3E%27"},
        {"GET /internal/7", "", "INTERNAL GET /v1/internal/7"},
        {"GET /internal/x", "", "-107"},
        {"GET /internal/7", "X-Forwarded-For: 10.0.0.1, 127.0.0.1\r\n", "-107"},
        {"GET /report/sales/2026", "", "REPORTS GET /v1/report/sales/2026"},
        {"GET /report/sales/now", "", "-107"},
        {"GET /", "", "-107"},
    };
    for (const Row& row : rows) {
        INFO(row.request << ' ' << row.fields);
        const std::string request(row.request);
        const std::string host = request.find("http://") == std::string::npos ? "weir.test" : "ACME.example:80";
        const HttpMessage answer = RawClient(gateway.port())
                                       .exchange(request + " HTTP/1.1\r\nHost: " + host + "\r\n" + row.fields + "\r\n");
        const std::string expected(row.answer);
        if (expected[0] == '-') CHECK(errorCode(answer) == expected);
        else CHECK(answer.body == expected + " HTTP/1.1");
    }
}

// Whether `given` says what `sent` says: handles as JSON, what is null or left out as ShenYu's default, and what only
// the admin needs not at all.
void checkSame(const Value& sent, const Value& given) {
    for (const auto& [key, mark, value] : sent.members()) {
        const bool notKept = key.rfind("before", 0) == 0 || key.rfind("date", 0) == 0 || key == "somethingNewer" ||
                             key == "pluginJar";
        if (notKept || value.isNull()) continue;
        const std::string name = key == "loged" && given.find("logged") ? "logged" : key;
        INFO(key << " of " << weir::base::toJson(given));
        const Value* kept = given.find(name);
        REQUIRE(kept);
        if (value.isArray()) {
            REQUIRE(kept->items().size() == value.items().size());
            for (std::size_t i = 0; i < value.items().size(); ++i) checkSame(value.items()[i], kept->items()[i]);
        } else if ((key == "handle" || key == "config") && !value.text().empty()) {
            CHECK(weir::base::toJson(parsed(kept->text())) == weir::base::toJson(parsed(value.text())));
        } else {
            CHECK(kept->text() == value.text());
        }
    }
}

void checkSame(const std::vector<std::string>& sent, const std::vector<std::string>& given) {
    REQUIRE(given.size() == sent.size());
    std::map<std::string, Value> byId;
    for (const std::string& record : given) byId[parsed(record).find("id")->text()] = parsed(record);
    for (const std::string& record : sent) {
        const Value tree = parsed(record);
        checkSame(tree, byId[tree.find("id")->text()]);
    }
}

}  // namespace

TEST_CASE("a ShenYu user's export loads unchanged and routes, and so does what the gateway gives back of it") {
    const Services services;
    const Export sent{lines("plugins.jsonl", services), lines("selectors.jsonl", services),
                      lines("rules.jsonl", services)};
    GatewayProcess gateway(onlyDivide());
    const LocalCaller caller(gateway);
    load(caller, sent);
    checkRoutes(gateway);
    const Export given = found(caller, sent);
    checkSame(sent.plugins, given.plugins);
    checkSame(sent.selectors, given.selectors);
    checkSame(sent.rules, given.rules);

    GatewayProcess other(onlyDivide());
    load(LocalCaller(other), given);
    checkRoutes(other);
    const Export again = found(LocalCaller(other), sent);
    CHECK(again.selectors == given.selectors);
    CHECK(again.rules == given.rules);
    CHECK(gateway.stop() == 0);
    CHECK_THAT(gateway.process().output(), Catch::Contains("somethingNewer is not known and ignored"));
}
