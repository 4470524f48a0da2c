#include "match/text_search.hpp"

#include <cstring>

#include "match/steps.hpp"

namespace weir::match {

namespace {
// memmem makes a table first, which costs more than most searches. Without one the time is linear in the text only
// while what is wanted is short.
constexpr std::size_t kShort = 8;
}  // namespace

std::size_t find(std::string_view text, std::string_view wanted) noexcept {
    if (wanted.empty()) return 0;
    if (wanted.size() > text.size()) return std::string_view::npos;
    std::size_t at = text.npos;
    if (wanted.size() <= kShort) {
        at = text.find(wanted);
    } else if (const void* found = memmem(text.data(), text.size(), wanted.data(), wanted.size())) {
        at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    }
    countSteps((at == text.npos ? text.size() : at) + wanted.size());
    return at;
}

}  // namespace weir::match
