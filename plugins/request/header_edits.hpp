#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "request_handle.hpp"
#include "weir/exchange.hpp"

namespace weir::request {

void editHeaders(Headers headers, const HeaderEdits& edits);

// Of each named header that has several lines only the first or the last stays, or one line for each value
// (RETAIN_UNIQUE).
void keepUnique(Headers headers, const std::vector<std::string>& names, std::string_view strategy);

}  // namespace weir::request
