#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::base {

// The pieces of JSON's grammar (RFC 8259) for those who read it where it stands. No side effects, any thread.

// Length of the number that `text` begins with; 0: none.
std::size_t jsonNumberLength(std::string_view text);

// Length, with its quotes, of the string that `text` begins with; 0: none, it is never closed, or it is not UTF-8.
// Halves of surrogate pairs are taken, as the grammar does.
std::size_t jsonStringLength(std::string_view text);

// The escape that `text` begins with, of a pair of surrogates both.
struct JsonEscape {
    std::size_t length = 0;       // in `text`; 0: it is none
    const char* fault = nullptr;  // why it is none
};
// Appends what the escape stands for.
JsonEscape readJsonEscape(std::string_view text, std::string& out);

}  // namespace weir::base
