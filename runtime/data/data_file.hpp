#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/value.hpp"
#include "data/data_set.hpp"
#include "data/record_reader.hpp"

namespace weir::data {

// Collects the roots `plugins`, `metadata` and `appAuth` of one or more files into a DataSet, strictly, and fills in
// what a file leaves out: id (`<plugin>`, `<plugin>/<selector>`, `<plugin>/<selector>/<rule>`, a metadata's path),
// sort (the position, from 1), the names of the parents. Several files may add selectors to one plugin; only one of
// them may set the plugin's own keys.
class DataFiles {
public:
    explicit DataFiles(std::vector<std::string>& warnings) : warnings_(warnings) {}

    // The root map of one file; other roots are not looked at. After an error the collection is of no use.
    base::Result<void> add(const base::Value& root, const std::string& fileName);

    // The sorted whole.
    DataSet take();

private:
    struct Plugin {
        std::size_t index;       // in data_.plugins
        std::string file;        // that named it last
        std::string settingsAt;  // where its own keys are set, "" when nowhere yet
        Origin origin;
        int selectors = 0;
    };

    base::Result<void> addPlugin(RecordReader& reader, const base::Value& tree);
    base::Result<Plugin*> placePlugin(PluginData plugin, const base::Value& tree);
    base::Result<void> addSelector(RecordReader& reader, const base::Value& tree, Plugin& plugin);
    base::Result<void> addRule(RecordReader& reader, const base::Value& tree, const SelectorData& selector,
                               int position);
    base::Result<void> addMetaData(RecordReader& reader, const base::Value& tree);
    base::Result<void> addAppAuth(RecordReader& reader, const base::Value& tree);
    base::Result<void> claim(const std::string& kind, const std::string& scope, const std::string& id,
                             const Origin& origin);

    std::vector<std::string>& warnings_;
    DataSet data_;
    std::map<std::string, Plugin> plugins_;
    std::map<std::vector<std::string>, Origin> claimed_;
};

}  // namespace weir::data
