#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_tree.hpp"
#include "base/result.hpp"

namespace weir::base {

// A path into JSON (RFC 9535) of names, indexes and wildcards: $.a  $['a']  $[0]  $[-1]  $.*  $[*]  $..a  $['a','b'].
// As Jayway's JsonPath, which ShenYu uses, it takes `a.b` for `$.a.b`, `$.[0]` for `$[0]`, and as a name behind a dot
// what RFC 9535 wants quoted (`$.x-y`, `$.@type`). Filters, functions and slices are refused. Immutable, any thread.
class JsonPath {
public:
    // The error says the position, from 1, and what was expected there.
    static Result<JsonPath> compile(std::string_view text);

    bool isRoot() const { return segments_.empty(); }
    // The values it leads to, each once, in no promised order. A key that is there twice leads to both. Time and memory
    // are linear in the tree.
    std::vector<JsonTree::Id> select(const JsonTree& tree) const;

private:
    struct Selector {
        enum class Kind { Name, Index, Wildcard };
        Kind kind = Kind::Wildcard;
        std::string name;
        std::int64_t index = 0;  // below 0: from the end
    };
    struct Segment {
        bool descendants = false;  // of what was reached so far and all that is in it
        std::vector<Selector> selectors;
    };
    class Parser;

    static void select(const JsonTree& tree, JsonTree::Id parent, const Selector& selector,
                       std::vector<JsonTree::Id>& found);

    std::vector<Segment> segments_;
};

}  // namespace weir::base
