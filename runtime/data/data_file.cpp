#include "data/data_file.hpp"

#include <functional>

#include "config/messages.hpp"

namespace weir::data {

namespace {

using base::Value;

// A list of records under `key`; nothing there is an empty list.
base::Result<void> eachItem(const Value& map, const std::string& key, const std::string& file,
                            const std::function<base::Result<void>(const Value&)>& add) {
    const Value* list = map.find(key);
    if (!list || list->isNull()) return {};
    if (!list->isArray()) return config::invalid(file, list->mark(), key + ": expected a list, " + config::got(*list));
    for (const Value& item : list->items()) {
        auto done = add(item);
        if (!done) return done;
    }
    return {};
}

bool isGiven(const Value& tree, std::string_view key) {
    const Value* value = tree.find(key);
    return value && !value->isNull();
}

// A parent named inside the record must be the one it stands under.
base::Result<void> adopt(std::string& name, const std::string& parent, const char* key, const Value& tree,
                         const std::string& file) {
    if (!name.empty() && name != parent) {
        return config::invalid(file, tree.find(key)->mark(),
                               std::string(key) + ": expected " + base::jsonQuote(parent) +
                                   ", which it stands under, got " + base::jsonQuote(name));
    }
    name = parent;
    return {};
}

}  // namespace

base::Result<void> DataFiles::add(const Value& root, const std::string& fileName) {
    RecordReader reader(fileName, RecordReader::Mode::Strict, warnings_);
    auto done = eachItem(root, "plugins", fileName, [&](const Value& item) { return addPlugin(reader, item); });
    if (!done) return done;
    done = eachItem(root, "metadata", fileName, [&](const Value& item) { return addMetaData(reader, item); });
    if (!done) return done;
    return eachItem(root, "appAuth", fileName, [&](const Value& item) { return addAppAuth(reader, item); });
}

DataSet DataFiles::take() {
    data_.sortAll();
    return std::move(data_);
}

base::Result<void> DataFiles::addPlugin(RecordReader& reader, const Value& tree) {
    auto plugin = reader.readPlugin(tree);
    if (!plugin) return plugin.error();
    auto placed = placePlugin(std::move(*plugin), tree);
    if (!placed) return placed.error();
    return eachItem(tree, "selectors", reader.source(),
                    [&](const Value& item) { return addSelector(reader, item, **placed); });
}

base::Result<DataFiles::Plugin*> DataFiles::placePlugin(PluginData plugin, const Value& tree) {
    bool settings = false;
    for (const Value::Member& member : tree.members()) settings |= member.key != "name" && member.key != "selectors";
    std::string place = config::place(plugin.origin.file, plugin.origin.mark);
    auto [found, fresh] = plugins_.try_emplace(plugin.name, Plugin{data_.plugins.size(), "", "", plugin.origin});
    Plugin& known = found->second;
    if (!fresh && known.file == plugin.origin.file) {
        return config::invalid(plugin.origin.file, plugin.origin.mark,
                               "the plugin " + base::jsonQuote(plugin.name) + " is there twice, first at " +
                                   config::place(known.origin.file, known.origin.mark));
    }
    if (settings && !known.settingsAt.empty()) {
        return config::invalid(plugin.origin.file, plugin.origin.mark,
                               "the plugin " + base::jsonQuote(plugin.name) + " has its own keys already at " +
                                   known.settingsAt + "; expected only name and selectors here");
    }
    known.file = plugin.origin.file;
    known.origin = plugin.origin;
    if (settings) known.settingsAt = place;
    if (plugin.id.empty()) plugin.id = plugin.name;
    if (fresh) data_.plugins.edit().push_back(std::move(plugin));
    else if (settings) data_.plugins.edit()[known.index] = std::move(plugin);
    return &known;
}

base::Result<void> DataFiles::addSelector(RecordReader& reader, const Value& tree, Plugin& plugin) {
    auto read = reader.readSelector(tree);
    if (!read) return read.error();
    SelectorData& selector = *read;
    const PluginData& parent = data_.plugins[plugin.index];
    auto done = adopt(selector.pluginName, parent.name, "pluginName", tree, reader.source());
    if (!done) return done;
    ++plugin.selectors;
    if (!isGiven(tree, "sort")) selector.sort = plugin.selectors;
    if (selector.pluginId.empty()) selector.pluginId = parent.id;
    if (selector.id.empty()) selector.id = parent.name + "/" + selector.name;
    done = claim("selector", parent.name, selector.id, selector.origin);
    if (!done) return done;
    int position = 0;
    done = eachItem(tree, "rules", reader.source(),
                    [&](const Value& item) { return addRule(reader, item, selector, ++position); });
    if (!done) return done;
    data_.selectors.edit().push_back(std::move(selector));
    return {};
}

base::Result<void> DataFiles::addRule(RecordReader& reader, const Value& tree, const SelectorData& selector,
                                      int position) {
    auto read = reader.readRule(tree);
    if (!read) return read.error();
    RuleData& rule = *read;
    auto done = adopt(rule.pluginName, selector.pluginName, "pluginName", tree, reader.source());
    if (!done) return done;
    done = adopt(rule.selectorId, selector.id, "selectorId", tree, reader.source());
    if (!done) return done;
    if (!isGiven(tree, "sort")) rule.sort = position;
    if (rule.id.empty()) rule.id = selector.pluginName + "/" + selector.name + "/" + rule.name;
    done = claim("rule", selector.pluginName, rule.id, rule.origin);
    if (!done) return done;
    data_.rules.edit().push_back(std::move(rule));
    return {};
}

base::Result<void> DataFiles::addMetaData(RecordReader& reader, const Value& tree) {
    auto read = reader.readMetaData(tree);
    if (!read) return read.error();
    if (read->id.empty()) read->id = read->path;
    auto done = claim("metadata", "", read->id, read->origin);
    if (done) data_.metadata.edit().push_back(std::move(*read));
    return done;
}

base::Result<void> DataFiles::addAppAuth(RecordReader& reader, const Value& tree) {
    auto read = reader.readAppAuth(tree);
    if (!read) return read.error();
    auto done = claim("appAuth", "", read->appKey, read->origin);
    if (done) data_.appAuth.edit().push_back(std::move(*read));
    return done;
}

base::Result<void> DataFiles::claim(const std::string& kind, const std::string& scope, const std::string& id,
                                    const Origin& origin) {
    auto [first, fresh] = claimed_.try_emplace({kind, scope, id}, origin);
    if (fresh) return {};
    std::string key = kind == "appAuth" ? "appKey" : "id";
    return config::invalid(origin.file, origin.mark,
                           "a second " + kind + " with the " + key + " " + base::jsonQuote(id) + ", first at " +
                               config::place(first->second.file, first->second.mark));
}

}  // namespace weir::data
