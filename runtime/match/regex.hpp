#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace re2 {
class RE2;
}

namespace weir::match {

// A regular expression of the RE2 syntax, matched in time linear in the text. '.' matches every
// character. What only Java's syntax has (look-around, back references, possessive quantifiers, class intersection)
// is refused when it is compiled. Matching may be done by any thread; RE2 keeps a cache of states behind a lock and
// may allocate in it, so conditions without an expression never come here.
class Regex {
public:
    enum class Unit { Character /* of UTF-8; nothing else is matched */, Byte };

    // `position`: where `expression` begins in the operator's text, counted from 1, for the message.
    static base::Result<Regex> compile(std::string_view expression, std::size_t position = 1, bool ignoreCase = false,
                                       Unit unit = Unit::Character);
    Regex(Regex&&) noexcept;
    Regex& operator=(Regex&&) noexcept;
    ~Regex();

    bool matches(std::string_view text) const noexcept;  // the whole of it
    // The first match at or behind `from`; with `whole` all of the text from there must be it. groups[0] is the match,
    // groups[i] group i; one that took no part, or does not exist, has data() == nullptr.
    bool find(std::string_view text, std::size_t from, bool whole, std::span<std::string_view> groups) const;
    int captureGroups() const;

    // `literal` as an expression that matches just it.
    static std::string quote(std::string_view literal);

private:
    explicit Regex(std::unique_ptr<const re2::RE2> compiled);

    std::unique_ptr<const re2::RE2> compiled_;
};

}  // namespace weir::match
