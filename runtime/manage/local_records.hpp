#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/value.hpp"
#include "data/record_reader.hpp"

// Records from the bodies of local calls, with ShenYu's defaults for what they leave out: id a new number, sort 10,
// type 0 (1 in the combined calls), name `<plugin>:selector<n>` or `<plugin>:rule<n>`. Any thread.
namespace weir::manage {

struct SelectorWithRules {
    data::SelectorData selector;
    std::vector<data::RuleData> rules;
};

base::Result<data::PluginData> pluginFrom(const base::Value& body, data::RecordReader& reader);
base::Result<data::SelectorData> selectorFrom(const base::Value& body, data::RecordReader& reader);
base::Result<data::RuleData> ruleFrom(const base::Value& body, data::RecordReader& reader);
base::Result<data::MetaData> metaDataFrom(const base::Value& body, data::RecordReader& reader);

// Of selectorAndRule (`ruleHandler`; the rule has the selector's conditions) and selectorAndRules (`ruleDataList`).
base::Result<SelectorWithRules> selectorAndRuleFrom(const base::Value& body, data::RecordReader& reader);
base::Result<SelectorWithRules> selectorAndRulesFrom(const base::Value& body, data::RecordReader& reader);

}  // namespace weir::manage
