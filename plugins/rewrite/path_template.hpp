#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::rewrite {

// A regular expression in which {name} stands for one segment of a path, at the end of the expression for the rest of
// the path. `{2,3}`, whose braces hold no name, stays what it is.
struct PathTemplate {
    std::string expression;          // with a group for each placeholder
    std::vector<std::string> names;  // of the groups, from the first; "" for a group of the expression's own
    bool hasPlaceholders = false;

    static PathTemplate parse(std::string_view text);
};

// The name in the braces at the front of `text`; "" when that is not {name}.
std::string_view placeholderAt(std::string_view text);

}  // namespace weir::rewrite
