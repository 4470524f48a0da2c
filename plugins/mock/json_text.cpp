#include "json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace weir::mock {

namespace {

constexpr int kDeepest = 64;

class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    std::size_t at() const { return at_; }
    bool atEnd() const { return at_ == text_.size(); }
    void space() { skip(" \t\r\n"); }
    bool take(std::string_view word) {
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    bool value(int depth) {
        if (depth > kDeepest) return false;
        space();
        if (take("[")) return items("]", [&] { return value(depth + 1); });
        if (take("{")) return items("}", [&] { return string() && colon() && value(depth + 1); });
        if (take("true") || take("false") || take("null")) return true;
        return text_.substr(at_).starts_with('"') ? string() : number();
    }
    bool string() {
        if (!take("\"")) return false;
        while (!take("\"")) {
            if (atEnd() || static_cast<unsigned char>(text_[at_]) < 0x20) return false;
            if (text_[at_++] == '\\' && !escaped()) return false;
        }
        return true;
    }
    bool colon() { return space(), take(":"); }
    // Behind the opening bracket.
    template <class Item>
    bool items(std::string_view end, Item item) {
        space();
        if (take(end)) return true;
        do {
            space();
            if (!item()) return false;
            space();
        } while (take(","));
        return take(end);
    }

private:
    std::size_t skip(std::string_view bytes) {
        const std::size_t end = std::min(text_.find_first_not_of(bytes, at_), text_.size());
        const std::size_t skipped = end - at_;
        at_ = end;
        return skipped;
    }
    bool digits() { return skip("0123456789") > 0; }
    bool number() {
        take("-");
        if (!take("0") && !digits()) return false;
        if (take(".") && !digits()) return false;
        if (!take("e") && !take("E")) return true;
        if (!take("+")) take("-");
        return digits();
    }
    bool escaped() {
        if (atEnd()) return false;
        const char name = text_[at_++];
        if (name != 'u') return std::string_view("\"\\/bfnrt").find(name) != std::string_view::npos;
        const std::string_view hex = text_.substr(at_, 4);
        at_ += hex.size();
        return hex.size() == 4 && hex.find_first_not_of("0123456789abcdefABCDEF") == hex.npos;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void appendUtf8(std::string& out, std::uint32_t point) {
    const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    const auto tail = [&](int shift) { add(0x80 | (point >> shift & 0x3f)); };
    if (point < 0x80) return add(point);
    if (point < 0x800) return add(0xc0 | point >> 6), tail(0);
    if (point < 0x10000) return add(0xe0 | point >> 12), tail(6), tail(0);
    add(0xf0 | point >> 18), tail(12), tail(6), tail(0);
}

// Bytes of the character at the front, 0 when it is none (RFC 3629).
std::size_t utf8Length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    std::size_t length = 1;
    if (first >= 0x80) length = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    if (length < 3) return length;
    const unsigned second = byte(1);
    const bool tooLong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool noCharacter = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
    return tooLong || noCharacter ? 0 : length;
}

std::uint32_t hexAt(std::string_view text, std::size_t at) {
    std::uint32_t value = 0;
    const std::string_view digits = text.substr(std::min(at, text.size()), 4);
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
}

bool isHigh(std::uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool isLow(std::uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

// From the 'u' at `at`, which moves to the last digit.
std::uint32_t codePoint(std::string_view text, std::size_t& at) {
    const std::uint32_t unit = hexAt(text, at + 1);
    at += 4;
    if (!isHigh(unit)) return isLow(unit) ? 0xfffd : unit;
    if (!text.substr(at + 1).starts_with("\\u")) return 0xfffd;
    const std::uint32_t low = hexAt(text, at + 3);
    if (!isLow(low)) return 0xfffd;
    at += 6;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

}  // namespace

std::string quoteJson(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text.front());
        const std::size_t length = utf8Length(text);
        if (length == 0) {
            out += "\xef\xbf\xbd";
        } else if (c < 0x20) {
            out.append("\\u00").append({kHex[c >> 4], kHex[c & 15]});
        } else {
            if (c == '"' || c == '\\') out += '\\';
            out += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out + '"';
}

std::string unquoteJson(std::string_view string) {
    const std::string_view text = string.substr(1, string.size() - 2);
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        switch (text[++i]) {
            case 'b': out += '\b'; break;
            case 'f': out += '\f'; break;
            case 'n': out += '\n'; break;
            case 'r': out += '\r'; break;
            case 't': out += '\t'; break;
            case 'u': appendUtf8(out, codePoint(text, i)); break;
            default: out += text[i];
        }
    }
    return out;
}

std::optional<std::string_view> jsonValue(std::string_view text) {
    Scanner scanner(text);
    scanner.space();
    const std::size_t begin = scanner.at();
    if (!scanner.value(0)) return std::nullopt;
    const std::size_t end = scanner.at();
    scanner.space();
    if (!scanner.atEnd()) return std::nullopt;
    return text.substr(begin, end - begin);
}

std::optional<std::string_view> jsonMember(std::string_view object, std::string_view name) {
    std::optional<std::string_view> found;
    Scanner scanner(object);
    if (!scanner.take("{")) return found;
    scanner.items("}", [&] {
        const std::size_t key = scanner.at();
        scanner.string();
        const bool wanted = unquoteJson(object.substr(key, scanner.at() - key)) == name;
        scanner.colon();
        scanner.space();
        const std::size_t value = scanner.at();
        scanner.value(0);
        if (wanted) found = object.substr(value, scanner.at() - value);
        return true;
    });
    return found;
}

std::optional<std::string_view> jsonElement(std::string_view array, std::size_t index) {
    std::optional<std::string_view> found;
    Scanner scanner(array);
    std::size_t count = 0;
    if (!scanner.take("[")) return found;
    scanner.items("]", [&] {
        const std::size_t value = scanner.at();
        scanner.value(0);
        if (count++ == index) found = array.substr(value, scanner.at() - value);
        return true;
    });
    return found;
}

}  // namespace weir::mock
