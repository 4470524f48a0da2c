#include "config/yaml_text.hpp"

#include <algorithm>

#include "base/hex.hpp"
#include "base/utf8.hpp"

namespace weir::config {

base::Mark markAt(std::string_view text, std::size_t at) {
    base::Mark mark{1, 1};
    for (char c : text.substr(0, at)) {
        mark.column = c == '\n' ? 1 : mark.column + 1;
        if (c == '\n') ++mark.line;
    }
    return mark;
}

std::string checkedYamlText(std::string_view raw) {
    if (raw.starts_with("\xFF\xFE") || raw.starts_with("\xFE\xFF")) {
        throw YamlFault{{1, 1}, "the file is UTF-16; expected UTF-8"};
    }
    if (raw.starts_with("\xEF\xBB\xBF")) raw.remove_prefix(3);
    std::string text;
    text.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size();) {
        auto byte = static_cast<unsigned char>(raw[i]);
        std::size_t length = base::utf8Length(raw.substr(i));
        if (length == 0) {
            const std::string code(base::upperHexOf(byte));
            throw YamlFault{markAt(text, text.size()),
                            "the byte 0x" + code + " is not UTF-8; expected a file in UTF-8"};
        }
        bool lineEnd = byte == '\r' && raw.substr(i).starts_with("\r\n");
        if (byte == 0) throw YamlFault{markAt(text, text.size()), "a NUL byte; expected text in UTF-8"};
        if ((byte < 0x20 && byte != '\n' && byte != '\t' && !lineEnd) || byte == 0x7F) {
            std::string code = std::to_string(byte);
            throw YamlFault{markAt(text, text.size()), "a control character (" + code + "); expected text"};
        }
        if (!lineEnd) text.append(raw, i, length);
        i += length;
    }
    return text;
}

void YamlLines::scalar(std::size_t begin) {
    while (begin < text_.size() && (text_[begin] == '&' || text_[begin] == '!')) {
        begin = std::min(text_.find_first_of(" \t\n", begin), text_.size());
        begin = std::min(text_.find_first_not_of(" \t\n", begin), text_.size());
    }
    if (begin == text_.size()) return;
    if (text_[begin] == '"' || text_[begin] == '\'') return quoted(begin);
    if (text_[begin] == '|' || text_[begin] == '>') block(begin);
}

std::optional<std::size_t> YamlLines::indentingTab() const {
    for (std::size_t line = 0; line < text_.size();) {
        std::size_t end = std::min(text_.find('\n', line), text_.size());
        std::size_t content = text_.find_first_not_of(" \t", line);
        std::size_t tab = text_.find_first_not_of(' ', line);
        if (content < end && tab < content && !inside(tab)) return tab;
        line = end + 1;
    }
    return std::nullopt;
}

bool YamlLines::inside(std::size_t at) const {
    auto region = regions_.upper_bound(at);
    return region != regions_.begin() && at < std::prev(region)->second;
}

void YamlLines::quoted(std::size_t begin) {
    char quote = text_[begin];
    std::size_t i = begin + 1;
    for (; i < text_.size(); ++i) {
        if (quote == '"' && text_[i] == '\\') {
            ++i;
        } else if (text_[i] == quote) {
            if (quote == '"' || text_.substr(i + 1, 1) != "'") break;
            ++i;
        }
    }
    if (i >= text_.size()) throw YamlFault{markAt(text_, begin), "the quote that opens here is never closed"};
    regions_[begin] = i;
    std::size_t next = text_.find_first_not_of(" \t", i + 1);
    constexpr std::string_view allowed = "\n:,]}";
    bool comment = next != text_.npos && text_[next] == '#' && next > i + 1;
    if (next == text_.npos || comment || allowed.find(text_[next]) != allowed.npos) return;
    throw YamlFault{markAt(text_, next), "text after the closing quote; quote the whole value"};
}

// Lines that are blank or indented like the first line with content.
void YamlLines::block(std::size_t begin) {
    std::size_t line = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
    std::optional<std::size_t> indent;
    while (line < text_.size()) {
        std::size_t content = std::min(text_.find_first_not_of(' ', line), text_.size());
        if (content < text_.size() && text_[content] != '\n') {
            if (!indent) indent = std::max<std::size_t>(content - line, 1);
            if (content - line < *indent) break;
        }
        line = std::min(text_.find('\n', line), text_.size() - 1) + 1;
    }
    regions_[begin] = line;
}

}  // namespace weir::config
