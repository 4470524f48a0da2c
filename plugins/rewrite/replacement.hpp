#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "path_pattern.hpp"
#include "weir/arena_allocator.hpp"

namespace weir::rewrite {

// What takes a match's place: text with references to groups, in the syntax of Java's Matcher.replaceAll ($1, $0 for
// the whole match, a backslash before a character that stands for itself) and with {name}.
class Replacement {
public:
    // `names`: of the groups, from the first. A fault ends a sentence ("refers to ..."); "" when there is none.
    std::string parse(std::string_view text, const std::vector<std::string>& names);

    // Appends `text` with every match replaced. false: nothing matched, out is untouched.
    bool apply(std::string_view text, const PathPattern& pattern, ArenaString& out) const;

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
    // Appends what the captures make of it.
    void append(ArenaString& out, const ArenaVector<weir_str>& captures) const;

    std::vector<Piece> pieces_;
    std::size_t captures_ = 1;  // that are looked at: the match and the groups up to the last that is referred to
};

}  // namespace weir::rewrite
