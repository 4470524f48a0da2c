#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/value.hpp"
#include "data/records.hpp"

namespace weir::data {

// Reads single records from trees. Defaults that depend on the place of a record (id, sort, names of the parents) are
// left to the caller: what is not in the tree is then empty or 0.
//
// Strict is for files: an unknown key is an error with the nearest one. Lenient is for ShenYu's sync data: unknown keys
// are ignored with one warning each, a null leaves the default.
class RecordReader {
public:
    enum class Mode { Strict, Lenient };

    // `source` names the file (or where else the tree came from) in messages and in the records' origin.
    RecordReader(std::string source, Mode mode, std::vector<std::string>& warnings);

    base::Result<PluginData> readPlugin(const base::Value& tree);
    base::Result<SelectorData> readSelector(const base::Value& tree);
    base::Result<RuleData> readRule(const base::Value& tree);
    base::Result<MetaData> readMetaData(const base::Value& tree);
    base::Result<AppAuthData> readAppAuth(const base::Value& tree);

    const std::string& source() const { return source_; }

private:
    struct Field;

    // What is wrong; nullopt when the record has been read.
    using Problem = std::optional<base::Error>;

    Problem read(const base::Value& tree, std::string_view shape, const std::vector<Field>& fields);
    Problem readUnknown(std::string_view shape, const std::vector<Field>& fields, const base::Value::Member& member);
    Problem readField(std::string_view shape, const Field& field, const base::Value& value);
    Problem readCondition(const base::Value& tree, ConditionData& out);
    Problem readAuthParam(const base::Value& tree, AuthParamData& out);
    Problem readAuthPath(const base::Value& tree, AuthPathData& out);
    template <class Record>
    Problem readList(const std::string& name, const base::Value& value, std::vector<Record>& out,
                     Problem (RecordReader::*readOne)(const base::Value&, Record&));
    Problem readTree(const std::string& name, const base::Value& value, base::Value& out);
    Problem expected(const std::string& name, std::string_view what, const base::Value& value, std::string hint = {});
    void warn(base::Mark mark, std::string message);

    std::string source_;
    Mode mode_;
    std::vector<std::string>& warnings_;
    std::set<std::string> warned_;
};

}  // namespace weir::data
