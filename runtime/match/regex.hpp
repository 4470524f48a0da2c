#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "weir/abi.h"

namespace re2 {
class RE2;
}

namespace weir::match {

// A regular expression of the RE2 syntax, matched in time linear in the text. '.' matches every
// character. What only Java's syntax has (look-around, back references, possessive quantifiers, class intersection)
// is refused when it is compiled. Matching may be done by any thread; RE2 keeps a cache of states behind a lock and
// may allocate in it, so conditions without an expression never come here, and what the text an expression begins with
// decides is told without it.
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
    // groups[i] group i; one that took no part, or does not exist, has data == nullptr. Allocates for more than ten.
    bool find(std::string_view text, std::size_t from, bool whole, std::span<weir_str> groups) const;
    int captureGroups() const;

    // `literal` as an expression that matches just it.
    static std::string quote(std::string_view literal);

private:
    explicit Regex(std::unique_ptr<const re2::RE2> compiled);

    bool takesAll(std::string_view rest) const;

    std::unique_ptr<const re2::RE2> compiled_;
    std::string prefix_;      // each match begins with it; empty: not known
    bool takesRest_ = false;  // behind prefix_ the expression is ".*" or "(.*)"
};

}  // namespace weir::match
