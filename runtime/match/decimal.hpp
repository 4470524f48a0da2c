#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace weir::match {

// A decimal number as text: an optional sign, digits, an optional fraction, blanks around it. Kept as digits, so that
// long ones compare exactly.
class Decimal {
public:
    // Views `text`; nothing when it is no number.
    static std::optional<Decimal> parse(std::string_view text);

    std::strong_ordering operator<=>(const Decimal& other) const;

private:
    bool negative_ = false;  // never for zero
    std::string_view whole_;     // without leading zeros
    std::string_view fraction_;  // without trailing zeros
};

}  // namespace weir::match
