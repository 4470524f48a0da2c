#include "replacement.hpp"

#include <algorithm>

#include "path_template.hpp"

namespace weir::rewrite {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string& Replacement::openText() {
    if (pieces_.empty() || pieces_.back().hasGroup) pieces_.emplace_back();
    return pieces_.back().text;
}

void Replacement::addGroup(std::size_t group) {
    openText();
    pieces_.back().group = group;
    pieces_.back().hasGroup = true;
    captures_ = std::max(captures_, group + 1);
}

// As Java: the first digit always belongs to the number, the next ones as long as there is such a group.
std::string Replacement::addReference(std::string_view digits, std::size_t groups, std::size_t& used) {
    if (digits.empty() || !isDigit(digits.front())) return "has a '$' without a group's number behind it (write \\$)";
    std::size_t group = static_cast<std::size_t>(digits.front() - '0');
    if (group > groups) {
        return "refers to group " + std::to_string(group) + ", but regex has " +
               (groups == 0 ? "no groups" : std::to_string(groups));
    }
    for (used = 1; used < digits.size() && isDigit(digits[used]); ++used) {
        const std::size_t longer = group * 10 + static_cast<std::size_t>(digits[used] - '0');
        if (longer > groups) break;
        group = longer;
    }
    addGroup(group);
    return "";
}

std::string Replacement::addName(std::string_view name, const std::vector<std::string>& names) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return "refers to {" + std::string(name) + "}, which regex does not have";
    addGroup(static_cast<std::size_t>(found - names.begin()) + 1);
    return "";
}

std::string Replacement::parse(std::string_view text, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string fault;
        if (text[i] == '\\') {
            if (++i == text.size()) return "ends with a single \\";
            openText() += text[i];
        } else if (text[i] == '$') {
            std::size_t used = 0;
            fault = addReference(text.substr(i + 1), names.size(), used);
            i += used;
        } else if (text[i] == '{') {
            const std::string_view name = placeholderAt(text.substr(i));
            if (name.empty()) return "has a '{' that begins no {name} (write \\{)";
            fault = addName(name, names);
            i += name.size() + 1;
        } else {
            openText() += text[i];
        }
        if (!fault.empty()) return fault;
    }
    return "";
}

void Replacement::append(ArenaString& out, const ArenaVector<weir_str>& captures) const {
    for (const Piece& piece : pieces_) {
        out += piece.text;
        if (piece.hasGroup && captures[piece.group].data)
            out.append(captures[piece.group].data, captures[piece.group].size);
    }
}

bool Replacement::apply(std::string_view text, const PathPattern& pattern, ArenaString& out) const {
    ArenaVector<weir_str> captures(captures_, out.get_allocator());
    std::size_t copied = 0;  // of `text`
    std::size_t from = 0;
    bool found = false;
    while (from <= text.size() && pattern.find(text, from, captures)) {
        const auto begin = static_cast<std::size_t>(captures[0].data - text.data());
        out += text.substr(copied, begin - copied);
        append(out, captures);
        found = true;
        copied = begin + captures[0].size;
        from = captures[0].size == 0 ? copied + 1 : copied;  // an empty match is not found twice
    }
    if (found) out += text.substr(copied);
    return found;
}

}  // namespace weir::rewrite
