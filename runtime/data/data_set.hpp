#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "data/records.hpp"
#include "data/shared_record.hpp"

namespace weir::data {

// All data in force, flat as ShenYu caches it: an entry is (kind, plugin, id), so one can be put in or taken out by
// itself. Every list is sorted as sortAll() leaves it. A copy shares the records. Control thread only.
struct DataSet {
    SharedList<PluginData> plugins;      // by name
    SharedList<SelectorData> selectors;  // by pluginName, sort, id
    SharedList<RuleData> rules;          // by pluginName, selectorId, sort, id
    SharedList<MetaData> metadata;       // by id
    SharedList<AppAuthData> appAuth;     // by appKey

    void sortAll();

    // Views into the lists, valid until they change.
    const PluginData* plugin(std::string_view name) const;
    std::span<const Shared<SelectorData>> selectorsOf(std::string_view pluginName) const;
    std::span<const Shared<RuleData>> rulesOf(std::string_view pluginName) const;
    std::span<const Shared<RuleData>> rulesOf(std::string_view pluginName, std::string_view selectorId) const;
};

// Whether `a` stands before `b` in its list.
bool before(const PluginData& a, const PluginData& b);
bool before(const SelectorData& a, const SelectorData& b);
bool before(const RuleData& a, const RuleData& b);
bool before(const MetaData& a, const MetaData& b);
bool before(const AppAuthData& a, const AppAuthData& b);

}  // namespace weir::data
