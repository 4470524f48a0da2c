#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// JSON as text: enough to take a value out of a request's body and to put one into an answer. Nothing is built; a value
// is a view of its text.
namespace weir::mock {

// As a JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string quoteJson(std::string_view text);
// What a JSON string says. Half of a surrogate pair becomes U+FFFD.
std::string unquoteJson(std::string_view string);

// The one value that `text` is, without the space around it; nothing when it is not RFC 8259's JSON or nested deeper
// than 64. UTF-8 is not looked at.
std::optional<std::string_view> jsonValue(std::string_view text);
// Of an object or array that jsonValue() has seen. Of members with the same name the last counts.
std::optional<std::string_view> jsonMember(std::string_view object, std::string_view name);
std::optional<std::string_view> jsonElement(std::string_view array, std::size_t index);

}  // namespace weir::mock
