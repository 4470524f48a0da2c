#pragma once

#include <memory>
#include <vector>

#include "base/value.hpp"
#include "data/data_set.hpp"
#include "upstream/set_catalog.hpp"

namespace weir::manage {

// What the management port tells about upstreams. Any thread.
class UpstreamSource {
public:
    virtual std::vector<std::shared_ptr<const upstream::SetCatalog::Set>> upstreamSets() const = 0;
    // Null: the name has none.
    virtual std::shared_ptr<const upstream::AddressList> addressesOf(const upstream::Server& server) const = 0;

protected:
    ~UpstreamSource() = default;
};

// The lists of the selectors that are in the data, by plugin and selector, each upstream with its state: what a request
// would find now. Calls and failures are those of the url since the gateway started, whichever list it was called for.
base::Value upstreamRows(const UpstreamSource& source, const data::DataSet& data);

}  // namespace weir::manage
