#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/value.hpp"
#include "config/settings_reader.hpp"

namespace weir::config {

// Environment variables in the scalars of a file, as in Spring: `${NAME}`, `${NAME:default}` (the default may be empty,
// hold colons and balanced braces, and placeholders of its own), also inside a longer text. What a variable holds is
// data: it is not read as YAML and not expanded again. `$${` stands for `${`. What only resembles a placeholder (`$1`,
// `${not a name`) stays as it is, and so do keys. A name is letters, digits, `_`, `.` and `-`, without a digit in front;
// inside `handle`, `config` and `rpcExt` only capitals, digits and `_`, as ShenYu has `${phone}` and the like there. In
// such a value given as JSON text the placeholders are those of its strings.
class Variables {
public:
    // `environment` must outlive it.
    explicit Variables(const Environment& environment) : environment_(environment) {}

    // The tree with the variables' values in it. A variable that is set to nothing is set. The error names one that is
    // not set and has no default, one that is not UTF-8 or a placeholder that is never closed, by the place of the
    // scalar; it never shows a value.
    base::Result<base::Value> expand(const base::Value& tree, std::string_view fileName);

    // Whether expand() would change anything.
    static bool needed(const base::Value& tree);

    // The names that placeholders had so far.
    const std::set<std::string>& used() const { return used_; }

private:
    struct Scope;

    base::Value expandValue(const base::Value& value, const Scope& scope);
    base::Value expandPluginsOwn(const base::Value& value, const Scope& scope);
    base::Value expandScalar(const base::Value& value, const Scope& scope);
    std::string expandText(std::string_view text, const Scope& scope, int depth);
    // What stands there instead of a placeholder; `standard` is its default.
    std::string valueOf(const std::string& name, std::optional<std::string_view> standard, const Scope& scope,
                        int depth);
    // Keeps the first fault; the text to go on with.
    std::string fail(const Scope& scope, std::string message);

    const Environment& environment_;
    std::set<std::string> used_;
    std::optional<base::Error> fault_;
};

}  // namespace weir::config
