#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/pattern.hpp"

namespace weir::rewrite {

// What takes a match's place: text with references to groups, in the syntax of Java's Matcher.replaceAll ($1, $0 for
// the whole match, a backslash before a character that stands for itself) and with {name}.
class Replacement {
public:
    // `names`: of the groups, from the first. A fault ends a sentence ("refers to ..."); "" when there is none.
    std::string parse(std::string_view text, const std::vector<std::string>& names);

    // Appends what the captures make of it.
    void append(std::string& out, const std::vector<weir_str>& captures) const;

    // Replaces every match, or with `whole` the text if all of it matches. false: nothing matched, out is untouched.
    bool apply(std::string_view text, const Pattern& pattern, bool whole, std::string& out) const;

private:
    struct Piece {
        std::string text;
        std::size_t group = 0;  // comes behind the text
        bool hasGroup = false;
    };

    std::string addReference(std::string_view digits, std::size_t groups, std::size_t& used);
    std::string addName(std::string_view name, const std::vector<std::string>& names);
    void addGroup(std::size_t group);
    std::string& openText();

    std::vector<Piece> pieces_;
};

}  // namespace weir::rewrite
