#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weir::match {

// A text that does not change. Up to kInline bytes stand in the object itself, which spares who reads it a way through
// memory; std::string would keep 15.
class InlineText {
public:
    static constexpr std::size_t kInline = 40;

    InlineText() = default;
    explicit InlineText(std::string_view text) : size_(static_cast<std::uint32_t>(text.size())) {
        if (text.size() > kInline) long_ = std::make_unique<char[]>(text.size());
        std::ranges::copy(text, long_ ? long_.get() : short_.data());
    }

    std::string_view view() const { return {long_ ? long_.get() : short_.data(), size_}; }

private:
    std::uint32_t size_ = 0;
    std::array<char, kInline> short_;
    std::unique_ptr<char[]> long_;
};

}  // namespace weir::match
