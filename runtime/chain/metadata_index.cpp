#include "chain/metadata_index.hpp"

#include <limits>

#include "base/value.hpp"
#include "config/messages.hpp"

namespace weir::chain {

namespace {

// Nothing but a path.
class PathSubject final : public match::Subject {
public:
    explicit PathSubject(std::string_view path) : path_(path) {}

    std::string_view uri() const noexcept override { return path_; }
    std::string_view method() const noexcept override { return {}; }
    std::string_view rawQuery() const noexcept override { return {}; }
    std::string_view domain() const noexcept override { return {}; }
    std::string_view clientIp() const noexcept override { return {}; }
    std::string_view header(std::string_view) const noexcept override { return {}; }

private:
    std::string_view path_;
};

// The higher, the closer a pattern describes a path.
int specificity(const std::string& path) {
    const std::size_t wildcard = path.find_first_of("*?{");
    if (wildcard == std::string::npos) return std::numeric_limits<int>::max();
    const bool anyDepth = path.find("**") != std::string::npos;
    return static_cast<int>(2 * wildcard) + (anyDepth ? 0 : 1);
}

}  // namespace

base::Result<std::shared_ptr<const MetadataIndex>> MetadataIndex::build(const data::DataSet& data,
                                                                        match::Order order) {
    std::vector<std::shared_ptr<const match::CompiledRule>> rules;
    for (const auto& record : data.metadata) {
        if (!record->enabled) continue;
        auto entry = std::make_shared<Entry>();
        entry->data = record.pointer();
        if (!record->rpcExt.isNull()) entry->rpcExt = base::toJson(record->rpcExt);
        match::RuleSpec spec;
        spec.id = record->id;
        spec.sort = order == match::Order::Best ? -specificity(record->path) : 0;
        spec.conditions = {{"uri", "match", "/", record->path}};
        spec.handle = std::move(entry);
        auto compiled = match::compile(std::move(spec), {});
        if (!compiled.ok()) {
            return base::Error{compiled.error().code, config::place(record->origin.file, record->origin.mark),
                               "metadata '" + record->id + "', path: " + compiled.error().message};
        }
        rules.push_back(std::move(compiled).value());
    }
    auto index = std::make_shared<MetadataIndex>();
    index->rules_ = match::RuleSet::build(std::move(rules), order);
    return std::shared_ptr<const MetadataIndex>(std::move(index));
}

const MetadataIndex::Entry* MetadataIndex::find(std::string_view path) const noexcept {
    if (rules_->rules().empty()) return nullptr;
    const match::CompiledRule* rule = rules_->choose(PathSubject(path));
    return rule ? static_cast<const Entry*>(rule->rule.handle) : nullptr;
}

}  // namespace weir::chain
