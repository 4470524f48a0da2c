#include "manage/local_records.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "config/messages.hpp"

namespace weir::manage {

namespace {

using base::Result;
using base::Value;
using data::RecordReader;

constexpr int kSort = 10;
constexpr int kFullFlow = 0;

// Greater than all before it, over a restart too (milliseconds and room for 4096 in each); later ids sort behind
// earlier ones, so that rules of one call keep their order.
std::int64_t newNumber() {
    static std::atomic<std::int64_t> last{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t fromClock = std::chrono::duration_cast<std::chrono::milliseconds>(now).count() * 4096;
    std::int64_t before = last;
    std::int64_t next = 0;
    do next = std::max(before + 1, fromClock);
    while (!last.compare_exchange_weak(before, next));
    return next;
}

bool isGiven(const Value& body, std::string_view key) {
    const Value* value = body.find(key);
    return value && !value->isNull();
}

template <class Record>
void fillIn(Record& record, const Value& body, const char* kind) {
    const std::int64_t number = newNumber();
    if (record.id.empty()) record.id = std::to_string(number);
    if (record.name.empty()) record.name = record.pluginName + ":" + kind + std::to_string(number % 999 + 1);
    if (!isGiven(body, "sort")) record.sort = kSort;
}

struct Rename {
    std::string_view from;
    const char* to;
};

// The members of `body` that `names` translates, under their new names. What is no map is for the reader to refuse.
Value renamed(const Value& body, const std::vector<Rename>& names) {
    if (!body.isObject()) return body;
    Value tree = Value::object(body.mark());
    for (const Rename& name : names) {
        const Value* value = body.find(name.from);
        if (value) tree.set(name.to, *value, value->mark());
    }
    return tree;
}

Result<data::SelectorData> combinedSelector(const Value& tree, RecordReader& reader) {
    auto selector = reader.readSelector(tree);
    if (selector) fillIn(*selector, tree, "selector");
    return selector;
}

Result<data::RuleData> combinedRule(const Value& tree, const data::SelectorData& selector, RecordReader& reader) {
    auto rule = reader.readRule(tree);
    if (!rule) return rule;
    rule->pluginName = selector.pluginName;
    rule->selectorId = selector.id;
    fillIn(*rule, tree, "rule");
    return rule;
}

}  // namespace

Result<data::PluginData> pluginFrom(const Value& body, RecordReader& reader) {
    auto plugin = reader.readPlugin(body);
    if (plugin && plugin->id.empty()) plugin->id = plugin->name;
    return plugin;
}

Result<data::SelectorData> selectorFrom(const Value& body, RecordReader& reader) {
    auto selector = reader.readSelector(body);
    if (!selector) return selector;
    if (!isGiven(body, "type")) selector->type = kFullFlow;
    fillIn(*selector, body, "selector");
    return selector;
}

Result<data::RuleData> ruleFrom(const Value& body, RecordReader& reader) {
    auto rule = reader.readRule(body);
    if (rule) fillIn(*rule, body, "rule");
    return rule;
}

Result<data::MetaData> metaDataFrom(const Value& body, RecordReader& reader) {
    auto metaData = reader.readMetaData(body);
    if (metaData && metaData->id.empty()) metaData->id = metaData->path;
    return metaData;
}

Result<SelectorWithRules> selectorAndRuleFrom(const Value& body, RecordReader& reader) {
    auto selector = combinedSelector(renamed(body, {{"pluginName", "pluginName"},
                                                    {"selectorHandler", "handle"},
                                                    {"conditionDataList", "conditionList"}}),
                                     reader);
    if (!selector) return selector.error();
    auto rule = combinedRule(
        renamed(body, {{"ruleHandler", "handle"}, {"conditionDataList", "conditionDataList"}}), *selector, reader);
    if (!rule) return rule.error();
    return SelectorWithRules{std::move(*selector), {std::move(*rule)}};
}

Result<SelectorWithRules> selectorAndRulesFrom(const Value& body, RecordReader& reader) {
    auto selector = combinedSelector(renamed(body, {{"pluginName", "pluginName"},
                                                    {"matchMode", "matchMode"},
                                                    {"sort", "sort"},
                                                    {"selectorHandler", "handle"},
                                                    {"conditionDataList", "conditionList"}}),
                                     reader);
    if (!selector) return selector.error();
    SelectorWithRules read{std::move(*selector), {}};
    const Value* list = body.find("ruleDataList");
    if (!list || list->isNull()) return read;
    if (!list->isArray()) {
        return config::invalid(reader.source(), list->mark(), "ruleDataList: expected a list, " + config::got(*list));
    }
    for (const Value& item : list->items()) {
        auto rule = combinedRule(renamed(item, {{"ruleName", "name"},
                                                {"matchMode", "matchMode"},
                                                {"ruleHandler", "handle"},
                                                {"conditionDataList", "conditionDataList"}}),
                                 read.selector, reader);
        if (!rule) return rule.error();
        read.rules.push_back(std::move(*rule));
    }
    return read;
}

}  // namespace weir::manage
