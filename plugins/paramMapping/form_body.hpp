#pragma once

#include <string>
#include <string_view>

// Bodies of application/x-www-form-urlencoded as JSON, so that the same edits fit both: {"name":["value",...],...}.
// Names and values stay percent-encoded in it, in one spelling (WHATWG URL 5.2), so that every byte can be there and
// the JSON has nothing to escape.

namespace weir::param_mapping {

// A text as a form has it: blanks are '+', other bytes but letters, digits and * - . _ are %XX.
std::string formEncoded(std::string_view text);

// A JSONPath whose names are spelled as in the JSON of a form.
std::string formPath(std::string_view path);

// Names in the order in which they come first, with all their values.
std::string formToJson(std::string_view form);

// The reverse. Takes what formToJson gave and JSON edits left of it: an object with lists of texts.
std::string formFromJson(std::string_view json);

}  // namespace weir::param_mapping
