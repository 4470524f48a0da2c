#pragma once

#include <string_view>

#include "support/wire_connection.hpp"

namespace weir::functional {

// What stands at the front of some bytes, read as a plain server or client reads it: lines end in CR LF, chunks go
// before a length. Nothing is checked; odd lines are kept as fields, for the record to show them.
struct Reading {
    support::HttpMessage message;  // trailers become fields, their names with "trailer " before them
    int status = 0;  // of a response; 0 when it is none
    bool headWhole = false;
    bool whole = false;
    bool untilClose = false;  // a response whose end only the close can tell
    std::size_t size = 0;     // bytes of it, all when it is not whole
};

Reading readRequest(std::string_view bytes);
// `bodyless`: the answer to HEAD.
Reading readResponse(std::string_view bytes, bool bodyless);

}  // namespace weir::functional
