// Input: a configuration file. Read as YAML, its variables expanded, then as settings, Weir's and ShenYu's, and as data,
// strictly as from a file and leniently as from ShenYu's sync. No file is opened for it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "config/settings_reader.hpp"
#include "config/shenyu_settings.hpp"
#include "config/variables.hpp"
#include "config/yaml.hpp"
#include "data/data_file.hpp"
#include "data/record_reader.hpp"

namespace {

using namespace weir;

// The error names a line that is there, or the one behind the last.
void checkPlace(const base::Error& error, std::string_view text) {
    WEIR_ASSERT(error.origin.starts_with("f.yaml") && !error.message.empty());
    if (error.origin.size() <= 7) return;
    const int line = std::stoi(error.origin.substr(7));
    const auto ends = std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r');
    WEIR_ASSERT(line >= 1 && line <= ends + 1);
}

void checkData(const base::Value& root, std::string_view text) {
    std::vector<std::string> warnings;
    data::DataFiles files(warnings);
    if (const auto added = files.add(root, "f.yaml"); !added) return checkPlace(added.error(), text);
    const data::DataSet data = files.take();
    for (const data::SelectorData& each : data.selectors) WEIR_ASSERT(!data.selectorsOf(each.pluginName).empty());
    for (const data::RuleData& each : data.rules) {
        WEIR_ASSERT(data.plugin(each.pluginName));
        WEIR_ASSERT(!data.rulesOf(each.pluginName, each.selectorId).empty());
    }
}

// What a record may be read from is not told beforehand: everything in the tree is tried as each.
void checkRecords(data::RecordReader& reader, const base::Value& tree) {
    (void)reader.readPlugin(tree);
    (void)reader.readSelector(tree);
    (void)reader.readRule(tree);
    (void)reader.readMetaData(tree);
    (void)reader.readAppAuth(tree);
    for (const base::Value& item : tree.items()) checkRecords(reader, item);
    for (const base::Value::Member& member : tree.members()) checkRecords(reader, member.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto parsed = config::parseYaml(text, "f.yaml");
    if (!parsed) {
        checkPlace(parsed.error(), text);
        return 0;
    }
    const config::Environment environment = {{"P", "a$b#c: ${P}"}, {"N", "7"}, {"E", ""}};
    config::Variables variables(environment);
    const auto root = variables.expand(*parsed, "f.yaml");
    if (!root) {
        checkPlace(root.error(), text);
        return 0;
    }
    const std::string json = base::toJson(*root);
    if (json.size() > 65536) return 0;  // aliases have made much of little
    WEIR_ASSERT(base::parseJson(json));

    std::vector<std::string> warnings;
    const auto shenyu = config::readShenyuSettings(*parsed, "f.yaml", variables, warnings);
    if (!shenyu) checkPlace(shenyu.error(), text);
    const base::Value* settings = root->find("weir");
    if (shenyu && json.find("file") == json.npos) {  // token.file is opened
        const auto read = config::readSettings(settings ? *settings : base::Value(), "f.yaml", {}, environment, warnings,
                                               *shenyu, variables.used());
        if (!read) checkPlace(read.error(), text);
    }
    checkData(*root, text);
    data::RecordReader lenient("f.yaml", data::RecordReader::Mode::Lenient, warnings);
    checkRecords(lenient, *root);
    return 0;
}
