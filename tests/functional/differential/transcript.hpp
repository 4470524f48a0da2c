#pragma once

#include <string>
#include <string_view>

namespace weir::functional {

// Bytes as the corpus writes them. Escapes: \r \n \t \0 \\ \xNN, and \{N*TEXT} for N times TEXT, which may have escapes
// itself. Throws std::runtime_error for others.
std::string bytesOf(std::string_view transcript);

// The other way round, on one line. What has a meaning in the text of a Behaviour ( ; { } -> ) is escaped too. Beyond
// `limit` bytes only the length is told.
std::string transcriptOf(std::string_view bytes, std::size_t limit = 60);

}  // namespace weir::functional
