#pragma once

#include <string>

#include "config/yaml.hpp"
#include "data/data_file.hpp"
#include "data/data_store.hpp"
#include "support/catch.hpp"

namespace weir::data {

// The data of one file.
inline DataSet fileData(const std::string& text) {
    std::vector<std::string> warnings;
    DataFiles files(warnings);
    auto tree = config::parseYaml(text, "f.yaml");
    REQUIRE(tree);
    REQUIRE(files.add(*tree, "f.yaml"));
    return files.take();
}

inline SelectorData selector(const std::string& plugin, const std::string& id, int sort,
                             const std::string& name = "s") {
    SelectorData made;
    made.id = id;
    made.name = name;
    made.pluginName = plugin;
    made.sort = sort;
    return made;
}

inline RuleData rule(const std::string& plugin, const std::string& selectorId, const std::string& id, int sort = 1) {
    RuleData made;
    made.id = id;
    made.pluginName = plugin;
    made.selectorId = selectorId;
    made.sort = sort;
    return made;
}

// All entries on one line, for comparing: "p:divide s:divide/1=name r:divide/1/2 m:id a:key".
inline std::string entriesOf(const DataSet& set) {
    std::string text;
    auto add = [&](const std::string& entry) { text += (text.empty() ? "" : " ") + entry; };
    for (const PluginData& plugin : set.plugins) add("p:" + plugin.name + (plugin.enabled ? "" : "(off)"));
    for (const SelectorData& each : set.selectors) add("s:" + each.pluginName + "/" + each.id + "=" + each.name);
    for (const RuleData& each : set.rules) add("r:" + each.pluginName + "/" + each.selectorId + "/" + each.id);
    for (const MetaData& each : set.metadata) add("m:" + each.id);
    for (const AppAuthData& each : set.appAuth) add("a:" + each.appKey + "=" + each.appSecret.reveal());
    return text;
}

inline std::string entriesOf(const DataStore& store) { return entriesOf(store.data()); }

}  // namespace weir::data
