#include "path_template.hpp"

namespace weir::rewrite {

namespace {

bool isNameByte(char c, bool first) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return letter || (!first && ((c >= '0' && c <= '9') || c == '-'));
}

}  // namespace

std::string_view placeholderAt(std::string_view text) {
    if (!text.starts_with('{')) return "";
    std::size_t end = 1;
    while (end < text.size() && isNameByte(text[end], end == 1)) ++end;
    return end < text.size() && text[end] == '}' ? text.substr(1, end - 1) : "";
}

PathTemplate PathTemplate::parse(std::string_view text) {
    PathTemplate parsed;
    bool inClass = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && i + 1 < text.size()) {
            parsed.expression += c;
            parsed.expression += text[++i];
            continue;
        }
        const std::string_view name = inClass ? "" : placeholderAt(text.substr(i));
        if (!name.empty()) {
            i += name.size() + 1;
            parsed.expression += i + 1 == text.size() ? "(.+)" : "([^/]+)";
            parsed.names.emplace_back(name);
            parsed.hasPlaceholders = true;
            continue;
        }
        const std::string_view behind = text.substr(i + 1);
        const bool captures = !behind.starts_with('?') || behind.starts_with("?P<");
        if (!inClass && c == '(' && captures) parsed.names.emplace_back();
        inClass = inClass ? c != ']' : c == '[';
        parsed.expression += c;
    }
    return parsed;
}

}  // namespace weir::rewrite
