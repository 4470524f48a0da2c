#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/value.hpp"
#include "config/settings.hpp"
#include "manage/explain_control.hpp"

namespace weir::manage {

// Where a gateway's management port is.
struct ManagementAddress {
    std::string url;  // as given, for messages
    std::string host;
    std::uint16_t port;
};

// Reads "http://HOST:PORT"; the error's origin is the text.
base::Result<ManagementAddress> parseManagementUrl(std::string_view url);

// The rows of a running gateway's /spi (module_pages.hpp), checked: a list of maps that have the texts interface, key,
// module, version and state. `token` may be empty. The error's origin is the URL: InvalidConfig when the token is
// missing or wrong, else nobody answers in time, or who answers is no gateway. Blocks for seconds at most, while the
// other side does not move.
base::Result<base::Value> fetchModuleRows(const ManagementAddress& address, const config::Secret& token);

// What a running gateway answers to POST /explain. Errors as above; InvalidConfig also when it would not take the
// request.
base::Result<base::Value> fetchExplanation(const ManagementAddress& address, const config::Secret& token,
                                           const ExplainRequest& request);

}  // namespace weir::manage
