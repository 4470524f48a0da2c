#include "base/json_text.hpp"


#include "base/utf8.hpp"

namespace weir::base {

namespace {

constexpr unsigned kNone = 0xFFFFFFFF;
constexpr std::string_view kEscapes = "\"\\/bfnrt";
constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";

bool isDigit(char c) { return c >= '0' && c <= '9'; }

void appendUtf8(std::string& out, unsigned code) {
    auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xC0 | code >> 6);
    } else {
        if (code < 0x10000) {
            put(0xE0 | code >> 12);
        } else {
            put(0xF0 | code >> 18);
            put(0x80 | (code >> 12 & 0x3F));
        }
        put(0x80 | (code >> 6 & 0x3F));
    }
    put(0x80 | (code & 0x3F));
}

// The code unit of the \uXXXX that `text` begins with, kNone when it begins with none.
unsigned hex4(std::string_view text) {
    if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return kNone;
    unsigned code = 0;
    for (char c : text.substr(2, 4)) {
        unsigned digit = isDigit(c)               ? static_cast<unsigned>(c - '0')
                         : (c >= 'a' && c <= 'f') ? static_cast<unsigned>(c - 'a' + 10)
                         : (c >= 'A' && c <= 'F') ? static_cast<unsigned>(c - 'A' + 10)
                                                  : 16u;
        if (digit == 16) return kNone;
        code = code * 16 + digit;
    }
    return code;
}

JsonEscape readUnicode(std::string_view text, std::string& out) {
    unsigned code = hex4(text);
    if (code == kNone) return {0, "expected four hexadecimal digits after \\u"};
    std::size_t length = 6;
    if (code >= 0xD800 && code < 0xDC00) {
        unsigned low = hex4(text.substr(6));
        if (low < 0xDC00 || low > 0xDFFF) return {0, "half of a surrogate pair"};
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        length = 12;
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
        return {0, "half of a surrogate pair"};
    }
    appendUtf8(out, code);
    return {length, nullptr};
}

// Length of the escape or character that `text` begins with within a string; 0: it may not stand there.
std::size_t unitLength(std::string_view text) {
    if (text[0] != '\\') return static_cast<unsigned char>(text[0]) < 0x20 ? 0 : utf8Length(text);
    if (text.size() > 1 && text[1] == 'u') return hex4(text) == kNone ? 0 : 6;
    return text.size() > 1 && kEscapes.find(text[1]) != std::string_view::npos ? 2 : 0;
}

}  // namespace

std::size_t jsonNumberLength(std::string_view text) {
    std::size_t i = 0;
    auto digit = [&] { return i < text.size() && isDigit(text[i]); };
    auto digits = [&] {
        if (!digit()) return false;
        while (digit()) ++i;
        return true;
    };
    if (i < text.size() && text[i] == '-') ++i;
    if (i < text.size() && text[i] == '0') ++i;
    else if (!digits()) return 0;
    if (i < text.size() && text[i] == '.') {
        ++i;
        if (!digits()) return 0;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
        if (!digits()) return 0;
    }
    return i;
}

std::size_t jsonStringLength(std::string_view text) {
    if (!text.starts_with('"')) return 0;
    for (std::size_t i = 1; i < text.size();) {
        if (text[i] == '"') return i + 1;
        const std::size_t length = unitLength(text.substr(i));
        if (length == 0) return 0;
        i += length;
    }
    return 0;
}

JsonEscape readJsonEscape(std::string_view text, std::string& out) {
    const char name = text.size() > 1 && text[0] == '\\' ? text[1] : '\0';
    if (name == 'u') return readUnicode(text, out);
    const std::size_t which = kEscapes.find(name);
    if (which == std::string_view::npos) return {0, "not an escape of JSON"};
    out.push_back(kMeanings[which]);
    return {2, nullptr};
}

}  // namespace weir::base
