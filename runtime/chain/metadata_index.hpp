#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/data_set.hpp"
#include "match/plugin_matcher.hpp"

namespace weir::chain {

// The enabled metadata entries by the paths they are for. Immutable, any thread.
class MetadataIndex {
public:
    struct Entry {
        std::shared_ptr<const data::MetaData> data;
        std::string rpcExt;  // JSON text; empty: none
    };

    // Control thread. The error is a path that is no Ant pattern, with its place.
    static base::Result<std::shared_ptr<const MetadataIndex>> build(const data::DataSet& data, match::Order order);

    // The entry whose path Ant-matches the raw path `path` (fact sheet 3.1); null: there is none. Among several ShenYu
    // takes any; here Order::Best takes one without wildcards, else the longest text before the first wildcard, else one
    // without `**`, else the lowest id; First takes the lowest id.
    const Entry* find(std::string_view path) const noexcept;

private:
    std::shared_ptr<const match::RuleSet> rules_;
};

}  // namespace weir::chain
