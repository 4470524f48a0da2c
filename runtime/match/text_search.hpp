#pragma once

#include <cstddef>
#include <string_view>

namespace weir::match {

// As std::string_view::find(), but in time linear in both texts whatever they are.
std::size_t find(std::string_view text, std::string_view wanted) noexcept;

}  // namespace weir::match
