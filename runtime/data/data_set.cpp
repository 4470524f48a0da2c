#include "data/data_set.hpp"

#include <algorithm>
#include <tuple>

namespace weir::data {

namespace {

using Text = std::string_view;

auto orderOf(const SelectorData& selector) {
    return std::tuple(Text(selector.pluginName), selector.sort, Text(selector.id));
}
auto orderOf(const RuleData& rule) {
    return std::tuple(Text(rule.pluginName), Text(rule.selectorId), rule.sort, Text(rule.id));
}

}  // namespace

bool before(const PluginData& a, const PluginData& b) { return a.name < b.name; }
bool before(const SelectorData& a, const SelectorData& b) { return orderOf(a) < orderOf(b); }
bool before(const RuleData& a, const RuleData& b) { return orderOf(a) < orderOf(b); }
bool before(const MetaData& a, const MetaData& b) { return a.id < b.id; }
bool before(const AppAuthData& a, const AppAuthData& b) { return a.appKey < b.appKey; }

void DataSet::sortAll() {
    auto inOrder = [](const auto& a, const auto& b) { return before(*a, *b); };
    std::ranges::sort(plugins.edit(), inOrder);
    std::ranges::sort(selectors.edit(), inOrder);
    std::ranges::sort(rules.edit(), inOrder);
    std::ranges::sort(metadata.edit(), inOrder);
    std::ranges::sort(appAuth.edit(), inOrder);
}

const PluginData* DataSet::plugin(std::string_view name) const {
    auto key = [](const Shared<PluginData>& entry) { return Text(entry->name); };
    auto found = std::ranges::lower_bound(plugins, name, {}, key);
    return found != plugins.end() && (*found)->name == name ? &**found : nullptr;
}

std::span<const Shared<SelectorData>> DataSet::selectorsOf(std::string_view pluginName) const {
    auto key = [](const Shared<SelectorData>& selector) { return Text(selector->pluginName); };
    auto first = std::ranges::lower_bound(selectors, pluginName, {}, key);
    return {first, std::ranges::upper_bound(first, selectors.end(), pluginName, {}, key)};
}

std::span<const Shared<RuleData>> DataSet::rulesOf(std::string_view pluginName) const {
    auto key = [](const Shared<RuleData>& rule) { return Text(rule->pluginName); };
    auto first = std::ranges::lower_bound(rules, pluginName, {}, key);
    return {first, std::ranges::upper_bound(first, rules.end(), pluginName, {}, key)};
}

std::span<const Shared<RuleData>> DataSet::rulesOf(std::string_view pluginName, std::string_view selectorId) const {
    auto key = [](const Shared<RuleData>& rule) { return std::pair(Text(rule->pluginName), Text(rule->selectorId)); };
    const std::pair sought(pluginName, selectorId);
    auto first = std::ranges::lower_bound(rules, sought, {}, key);
    return {first, std::ranges::upper_bound(first, rules.end(), sought, {}, key)};
}

}  // namespace weir::data
