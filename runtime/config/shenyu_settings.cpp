#include "config/shenyu_settings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/ascii.hpp"
#include "config/messages.hpp"

namespace weir::config {

namespace {

using base::Result;
using base::Value;

struct Row {
    std::string_view key;          // ShenYu's: one key, or with all that is below it and has no row of its own
    std::string_view setting;      // Weir's that means the same; "": none
    std::string_view lacks = {};   // what the warning says then
    std::string_view whenTrue = {};  // what a flag's values are called here; "": as they are written
    std::string_view whenFalse = {};
};

constexpr std::string_view kNoSync = "Weir has no data sync yet";
constexpr std::string_view kNoRegistry = "Weir registers itself nowhere";
constexpr std::string_view kNoMatchCache = "Weir has no cache of matches";
constexpr std::string_view kEnabled = "shenyu.local.enabled";
constexpr std::string_view kLocalKey = "local.sha512Key";
constexpr std::string_view kNamespace = "shenyu.namespace";
constexpr std::string_view kDefaultNamespace = "649330b6-c2d7-4edc-be8e-8a54df9eb385";

constexpr Row kRows[] = {
    {"server.address", "server.address"},
    {"server.port", "server.port"},
    {"server", "", "only address and port are taken from here; Weir's own settings stand under weir"},
    {"shenyu.extPlugin.path", "extPlugin.path"},
    {"shenyu.extPlugin.enabled", "extPlugin.enabled"},
    {"shenyu.extPlugin.threads", "extPlugin.threads"},
    {"shenyu.extPlugin.scheduleTime", "extPlugin.scheduleTime"},
    {"shenyu.extPlugin.scheduleDelay", "extPlugin.scheduleDelay"},
    {"shenyu.local.sha512Key", kLocalKey},
    {kEnabled, ""},
    {"shenyu.switchConfig.collapseSlashes", "server.doubleSlashes", "", "merge", "keep"},
    {"shenyu.switchConfig", "", "only collapseSlashes is taken"},
    {"shenyu.netty.http.httpDecoder.maxHeaderSize", "server.maxRequestHeaderBytes"},
    {"shenyu.netty.http.sni", "", "Weir has no https yet"},
    {"shenyu.netty", "", "only http.httpDecoder.maxHeaderSize is taken; weir.server has Weir's own"},
    {"shenyu.httpclient.connectTimeout", "upstream.connectTimeout"},
    {"shenyu.httpclient.pool.maxIdleTime", "upstream.keepAliveTimeout"},
    {"shenyu.httpclient", "", "only connectTimeout and pool.maxIdleTime are taken; weir.upstream has Weir's own, and "
                              "a call's timeout stands in the handle of its rule"},
    {kNamespace, "", "Weir has the default namespace only"},
    {"shenyu.sync.websocket", "", kNoSync},
    {"shenyu.sync.http", "", kNoSync},
    {"shenyu.sync.zookeeper", "", kNoSync},
    {"shenyu.sync.etcd", "", kNoSync},
    {"shenyu.sync.nacos", "", kNoSync},
    {"shenyu.sync.consul", "", kNoSync},
    {"shenyu.sync.apollo", "", kNoSync},
    {"shenyu.sync.polaris", "", kNoSync},
    {"shenyu.register", "", kNoRegistry},
    {"shenyu.instance", "", kNoRegistry},
    {"shenyu.heartbeat", "", kNoRegistry},
    {"shenyu.matchCache", "", kNoMatchCache},
    {"shenyu.selectorMatchCache", "", kNoMatchCache},
    {"shenyu.ruleMatchCache", "", kNoMatchCache},
    {"shenyu.cross", "", "its keys go into the config of plugin 'cross'"},
    {"shenyu.file", "", "Weir limits no uploads by themselves; weir.server.maxRequestBodyBytes limits every body"},
    {"shenyu.exclude", "", "Weir excludes no paths"},
    {"shenyu.fallback", "", "Weir has no fallback pages yet"},
    {"shenyu.health", "", "Weir answers /actuator/health on its management port"},
    {"shenyu.scheduler", "", "Weir's plugins run in its event loops"},
    {"shenyu.upstreamCheck.enabled", "upstreamCheck.enabled"},
    {"shenyu.upstreamCheck.interval", "upstreamCheck.interval"},
    {"shenyu.upstreamCheck.timeout", "upstreamCheck.timeout"},
    {"shenyu.upstreamCheck.healthyThreshold", "upstreamCheck.healthyThreshold"},
    {"shenyu.upstreamCheck.unhealthyThreshold", "upstreamCheck.unhealthyThreshold"},
    {"shenyu.upstreamCheck.poolSize", "upstreamCheck.poolSize"},
    {"shenyu.upstreamCheck.printEnabled", "upstreamCheck.printEnabled"},
    {"shenyu.upstreamCheck.printInterval", "upstreamCheck.printInterval"},
    {"shenyu.ribbon", "", "Weir has no Spring Cloud"},
    {"shenyu.springCloudCache", "", "Weir has no Spring Cloud"},
    {"shenyu.websocket", "", "Weir has no websocket plugin yet"},
    {"shenyu.sharedPool", "", "Weir has no pools of threads for calls"},
    {"shenyu.metrics", "", "Weir's metrics are at /actuator/prometheus on its management port"},
    {"shenyu.alert", "", "Weir sends no alerts"},
    {"shenyu.mcp", "", "Weir has no MCP server"},
    {"shenyu.plugins", "", "Weir's plugins are switched by the data"},
    {"shenyu.sign", "", "Weir has no sign plugin yet"},
};

// "shenyu.ext-plugin" and "shenyu.extPlugin" are one.
std::string fold(std::string_view key) {
    std::string folded = base::toLower(key);
    std::erase_if(folded, [](char c) { return c == '-' || c == '_'; });
    return folded;
}

const Row* rowOf(std::string_view folded) {
    const auto row = std::ranges::find_if(kRows, [&](const Row& each) { return fold(each.key) == folded; });
    return row == std::end(kRows) ? nullptr : row;
}

bool isAboveRows(const std::string& folded) {
    return std::ranges::any_of(kRows, [&](const Row& row) { return fold(row.key).starts_with(folded + "."); });
}

class Reader {
public:
    Reader(std::string_view file, Variables& variables, std::vector<std::string>& warnings)
        : file_(file), variables_(variables), warnings_(warnings) {}

    Result<void> visit(const std::string& path, const Value::Member& member, const Row* around) {
        if (member.value.isNull()) return {};
        const std::string folded = fold(path);
        const Row* row = rowOf(folded);
        if (row && (row->key == kEnabled || row->key == kNamespace)) return takeOwn(*row, member);
        if (row && !row->setting.empty()) return take(*row, member);
        if (!row) row = around;
        if (!isAboveRows(folded) || !member.value.isObject()) return warn(path, member, row), Result<void>();
        for (const Value::Member& inside : member.value.members()) {
            auto done = visit(path + "." + inside.key, inside, row);
            if (!done) return done;
        }
        return {};
    }

    Value take() {
        if (localOpen_) return std::move(taken_);
        Value kept = Value::object();
        for (const Value::Member& member : taken_.members()) {
            if (member.key != kLocalKey) kept.set(member.key, member.value, member.keyMark);
        }
        return kept;
    }

private:
    Result<Value> expand(const Row& row, const Value::Member& member) {
        const auto [first, fresh] = seen_.emplace(row.key, member.keyMark);
        if (!fresh) {
            return invalid(file_, member.keyMark,
                           std::string(row.key) + " is there twice, in two spellings, first in line " +
                               std::to_string(first->second.line));
        }
        return variables_.expand(member.value, file_);
    }

    Result<void> take(const Row& row, const Value::Member& member) {
        auto value = expand(row, member);
        if (!value) return value.error();
        if (!row.whenTrue.empty()) {
            const auto flag = value->toBool();
            if (!flag) return noFlag(row, *value);
            *value = Value::scalar(std::string(*flag ? row.whenTrue : row.whenFalse), true, value->mark());
        }
        taken_.set(std::string(row.setting), std::move(*value), member.keyMark);
        return {};
    }

    // The two that mean something here without being settings.
    Result<void> takeOwn(const Row& row, const Value::Member& member) {
        auto value = expand(row, member);
        if (!value) return value.error();
        if (row.key == kNamespace) {
            if (value->text() != kDefaultNamespace && value->text() != "") warn(std::string(row.key), member, &row);
            return {};
        }
        const auto flag = value->toBool();
        if (!flag) return noFlag(row, *value);
        localOpen_ = *flag;
        return {};
    }

    Result<void> noFlag(const Row& row, const Value& value) const {
        return invalid(file_, value.mark(), std::string(row.key) + ": expected true or false (or yes, no, on, off), " +
                                                got(value) + didYouMean(value.text(), {"true", "false"}));
    }

    void warn(const std::string& path, const Value::Member& member, const Row* row) {
        const std::string name = row ? std::string(row->key) : path;
        if (!warned_.insert(name).second) return;
        warnings_.push_back(place(file_, member.keyMark) + ": " + name + ": " +
                            (row ? std::string(row->lacks) : "Weir does not know this key"));
    }

    std::string_view file_;
    Variables& variables_;
    std::vector<std::string>& warnings_;
    Value taken_ = Value::object();
    bool localOpen_ = false;  // as ShenYu's code has it where nothing is said
    std::map<std::string_view, base::Mark> seen_;
    std::set<std::string> warned_;
};

}  // namespace

bool isShenyuRoot(std::string_view key) {
    const std::string root = fold(key.substr(0, key.find('.')));
    return root == "shenyu" || root == "server";
}

Result<Value> readShenyuSettings(const Value& root, std::string_view fileName, Variables& variables,
                                 std::vector<std::string>& warnings) {
    Reader reader(fileName, variables, warnings);
    for (const Value::Member& member : root.members()) {
        if (!isShenyuRoot(member.key)) continue;
        auto done = reader.visit(member.key, member, nullptr);
        if (!done) return done.error();
    }
    return reader.take();
}

}  // namespace weir::config
