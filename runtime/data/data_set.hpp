#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/records.hpp"

namespace weir::data {

// All data in force, flat as ShenYu caches it: an entry is (kind, plugin, id), so one can be put in or taken out by
// itself. Every list is sorted as sortAll() leaves it. Control thread only.
struct DataSet {
    std::vector<PluginData> plugins;      // by name
    std::vector<SelectorData> selectors;  // by pluginName, sort, id
    std::vector<RuleData> rules;          // by pluginName, selectorId, sort, id
    std::vector<MetaData> metadata;       // by id
    std::vector<AppAuthData> appAuth;     // by appKey

    void sortAll();

    // Views into the lists, valid until they change.
    const PluginData* plugin(std::string_view name) const;
    std::span<const SelectorData> selectorsOf(std::string_view pluginName) const;
    std::span<const RuleData> rulesOf(std::string_view pluginName, std::string_view selectorId) const;
};

// Whether `a` stands before `b` in its list.
bool before(const PluginData& a, const PluginData& b);
bool before(const SelectorData& a, const SelectorData& b);
bool before(const RuleData& a, const RuleData& b);
bool before(const MetaData& a, const MetaData& b);
bool before(const AppAuthData& a, const AppAuthData& b);

}  // namespace weir::data
