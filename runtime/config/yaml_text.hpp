#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/value.hpp"

// The checks of a YAML text that yaml-cpp does not make; part of parseYaml() and of no use outside it.
namespace weir::config {

// Thrown through yaml-cpp out of its callbacks, caught in parseYaml().
struct YamlFault {
    base::Mark mark;
    std::string message;
};

// Line and column of the byte at `at`.
base::Mark markAt(std::string_view text, std::size_t at);

// The text without BOM and with LF line ends; a YamlFault when it is not UTF-8 text.
std::string checkedYamlText(std::string_view raw);

// Where the lines of multi-line scalars are, as yaml-cpp reports only their beginnings. Inside them a tab at the start
// of a line is content; anywhere else it is indentation, which YAML forbids. `text` must outlive it.
class YamlLines {
public:
    explicit YamlLines(std::string_view text) : text_(text) {}

    // A scalar written with quotes or as a block begins at `begin` (maybe with an anchor or tag before it). A YamlFault
    // when its quote is never closed or text follows it.
    void scalar(std::size_t begin);

    // The first tab that indents content outside of those scalars.
    std::optional<std::size_t> indentingTab() const;

private:
    bool inside(std::size_t at) const;
    void quoted(std::size_t begin);
    void block(std::size_t begin);

    std::string_view text_;
    std::map<std::size_t, std::size_t> regions_;  // from the first byte of a scalar to the one behind its last
};

}  // namespace weir::config
