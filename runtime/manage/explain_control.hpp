#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/value.hpp"

namespace weir::manage {

// A request that nobody sends: what would become of it is to be explained.
struct ExplainRequest {
    std::string request;  // "GET /path?query"
    std::vector<std::pair<std::string, std::string>> headers;  // Host is localhost if it is not among them
    std::string client = "127.0.0.1";                          // where it comes from
    std::string body;
    std::size_t limit = 20;  // selectors, and rules, that are told of one by one for each plugin
};

// Says what the gateway would do with a request. Implemented by the gateway; called by any thread of the management
// port.
class ExplainControl {
public:
    virtual ~ExplainControl() = default;

    // As runtime/gateway/explainer.hpp says. InvalidConfig: it is no request; the message says why.
    virtual base::Result<base::Value> explain(const ExplainRequest& request) = 0;
};

// Reads {"request":"GET /x?y=1","headers":{"a":"b"},"client":"10.0.0.1","body":"...","limit":20}; all but `request` may
// be missing, a header's value may be a list of texts.
base::Result<ExplainRequest> explainRequestFrom(const base::Value& tree);
base::Value toValue(const ExplainRequest& request);

}  // namespace weir::manage
