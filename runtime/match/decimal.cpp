#include "match/decimal.hpp"

#include "match/steps.hpp"
#include "match/value_source.hpp"

namespace weir::match {
namespace {

bool isDigits(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
    Decimal number;
    countSteps(text.size());
    text = trim(text);
    if (text.starts_with('-') || text.starts_with('+')) {
        number.negative_ = text.front() == '-';
        text.remove_prefix(1);
    }
    const std::size_t point = text.find('.');
    number.whole_ = text.substr(0, point);
    number.fraction_ = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
    if (number.whole_.empty() && number.fraction_.empty()) return std::nullopt;
    if (!isDigits(number.whole_) || !isDigits(number.fraction_)) return std::nullopt;
    while (number.whole_.starts_with('0')) number.whole_.remove_prefix(1);
    while (number.fraction_.ends_with('0')) number.fraction_.remove_suffix(1);
    if (number.whole_.empty() && number.fraction_.empty()) number.negative_ = false;
    return number;
}

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
    if (negative_ != other.negative_) {
        return negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    const Decimal& a = negative_ ? other : *this;
    const Decimal& b = negative_ ? *this : other;
    if (a.whole_.size() != b.whole_.size()) return a.whole_.size() <=> b.whole_.size();
    if (a.whole_ != b.whole_) return a.whole_ <=> b.whole_;
    return a.fraction_ <=> b.fraction_;
}

}  // namespace weir::match
