#include "match/text_search.hpp"

#include <cstring>

#include "match/steps.hpp"

namespace weir::match {

std::size_t find(std::string_view text, std::string_view wanted) noexcept {
    if (wanted.empty()) return 0;
    if (wanted.size() > text.size()) return std::string_view::npos;
    const void* found = memmem(text.data(), text.size(), wanted.data(), wanted.size());
    const std::size_t at = found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.npos;
    countSteps((found ? at : text.size()) + wanted.size());
    return at;
}

}  // namespace weir::match
