#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "path_template.hpp"
#include "weir/pattern.hpp"

namespace weir::rewrite {

// A rule's regex, compiled. One with a {name} is for whole paths, another for each place that it matches.
class PathPattern {
public:
    // Control thread. false: refused, the reason is in `error` under "regex".
    bool compile(const PathTemplate& parsed, weir_error* error);
    explicit operator bool() const { return static_cast<bool>(pattern_); }

    // The next match at or behind `from`; captures as Pattern::find has them.
    bool find(std::string_view text, std::size_t from, std::span<weir_str> captures) const;

private:
    Pattern pattern_;
    bool whole_ = false;
    bool matchesEnd_ = false;  // without taking anything
};

}  // namespace weir::rewrite
