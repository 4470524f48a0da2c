// A reader of our own: Boost.JSON gives neither positions nor the spelling of numbers, and takes duplicate keys.
#include <string>
#include <unordered_map>

#include "base/hex.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "base/value.hpp"

namespace weir::base {

namespace {

constexpr int kMaxDepth = 64;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    Result<Value> read() {
        Value value;
        if (!readValue(value, 0)) return std::move(error_);
        skipSpace();
        if (at_ < text_.size()) {
            fail("expected the end of the text after the JSON value, found " + found());
            return std::move(error_);
        }
        return value;
    }

private:
    Mark mark() const { return {line_, static_cast<int>(at_ - lineStart_) + 1}; }
    bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }

    bool fail(std::string message) { return failAt(mark(), std::move(message)); }
    bool failAt(Mark mark, std::string message) {
        error_.code = ErrorCode::InvalidConfig;
        error_.origin = std::to_string(mark.line) + ":" + std::to_string(mark.column);
        error_.message = std::move(message);
        return false;
    }

    std::string found() const {
        if (at_ >= text_.size()) return "the end of the text";
        std::size_t length = utf8Length(text_.substr(at_));
        if (length == 0) return "a byte that is not UTF-8";
        return jsonQuote(text_.substr(at_, length));
    }

    void skipSpace() {
        for (; at_ < text_.size(); ++at_) {
            char c = text_[at_];
            if (c == '\n') {
                ++line_;
                lineStart_ = at_ + 1;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                return;
            }
        }
    }

    bool readValue(Value& out, int depth) {
        skipSpace();
        Mark start = mark();
        if (at('{')) return readObject(out, start, depth);
        if (at('[')) return readArray(out, start, depth);
        if (at('"')) {
            std::string text;
            if (!readString(text)) return false;
            out = Value::scalar(std::move(text), true, start);
            return true;
        }
        return readPlain(out, start);
    }

    bool readPlain(Value& out, Mark start) {
        std::size_t length = jsonNumberLength(text_.substr(at_));
        for (std::string_view word : {"true", "false", "null"}) {
            if (text_.substr(at_).starts_with(word)) length = word.size();
        }
        auto part = [](char c) { return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.'; };
        bool cut = at_ + length < text_.size() && part(text_[at_ + length]);  // "01", "1.", "truex"
        if (length == 0 || cut) return fail("expected a JSON value, found " + found());
        std::string_view text = text_.substr(at_, length);
        at_ += length;
        out = text == "null" ? Value::null(start) : Value::scalar(std::string(text), false, start);
        return true;
    }

    bool readArray(Value& out, Mark start, int depth) {
        if (depth == kMaxDepth) return fail("nested deeper than 64 levels");
        out = Value::array(start);
        ++at_;
        skipSpace();
        if (at(']')) return ++at_, true;
        while (true) {
            Value item;
            if (!readValue(item, depth + 1)) return false;
            out.append(std::move(item));
            skipSpace();
            if (at(']')) return ++at_, true;
            if (!at(',')) return fail("expected \",\" or \"]\" in the list, found " + found());
            ++at_;
        }
    }

    bool readObject(Value& out, Mark start, int depth) {
        if (depth == kMaxDepth) return fail("nested deeper than 64 levels");
        out = Value::object(start);
        std::unordered_map<std::string, Mark> seen;
        ++at_;
        skipSpace();
        if (at('}')) return ++at_, true;
        while (true) {
            skipSpace();
            if (!at('"')) return fail("expected a key in double quotes, found " + found());
            Mark keyMark = mark();
            std::string key;
            if (!readString(key)) return false;
            auto [first, fresh] = seen.emplace(key, keyMark);
            if (!fresh) return failAt(keyMark, duplicate(key, first->second));
            skipSpace();
            if (!at(':')) return fail("expected \":\" after the key, found " + found());
            ++at_;
            Value value;
            if (!readValue(value, depth + 1)) return false;
            out.set(std::move(key), std::move(value), keyMark);
            skipSpace();
            if (at('}')) return ++at_, true;
            if (!at(',')) return fail("expected \",\" or \"}\" in the object, found " + found());
            ++at_;
        }
    }

    static std::string duplicate(const std::string& key, Mark first) {
        return "the key " + jsonQuote(key) + " is there twice, first at " + std::to_string(first.line) + ":" +
               std::to_string(first.column);
    }

    bool readString(std::string& out) {
        Mark start = mark();
        ++at_;
        while (at_ < text_.size()) {
            char c = text_[at_];
            if (c == '"') return ++at_, true;
            if (static_cast<unsigned char>(c) < 0x20) return fail("a control character must be escaped in a string");
            if (c == '\\') {
                if (!readEscape(out)) return false;
                continue;
            }
            std::size_t length = utf8Length(text_.substr(at_));
            if (length == 0) return fail("a byte that is not UTF-8");
            out.append(text_.substr(at_, length));
            at_ += length;
        }
        return failAt(start, "this string is never closed");
    }

    bool readEscape(std::string& out) {
        const JsonEscape escape = readJsonEscape(text_.substr(at_), out);
        if (escape.fault) return fail(escape.fault);
        at_ += escape.length;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t lineStart_ = 0;
    int line_ = 1;
    Error error_;
};

void write(const Value& value, std::string& out) {
    switch (value.kind()) {
    case Value::Kind::Null:
        out += "null";
        return;
    case Value::Kind::Scalar: {
        const std::string& text = value.text();
        bool word = text == "true" || text == "false" || text == "null";
        bool bare = !value.quoted() && (word || (!text.empty() && jsonNumberLength(text) == text.size()));
        out += bare ? text : jsonQuote(text);
        return;
    }
    case Value::Kind::Array: {
        out += '[';
        const char* comma = "";
        for (const Value& item : value.items()) {
            out += comma;
            write(item, out);
            comma = ",";
        }
        out += ']';
        return;
    }
    case Value::Kind::Object: {
        out += '{';
        const char* comma = "";
        for (const Value::Member& member : value.members()) {
            out += comma + jsonQuote(member.key) + ':';
            write(member.value, out);
            comma = ",";
        }
        out += '}';
        return;
    }
    }
}

}  // namespace

Result<Value> parseJson(std::string_view text) { return Reader(text).read(); }

std::string toJson(const Value& value) {
    std::string out;
    write(value, out);
    return out;
}

std::string jsonQuote(std::string_view text) {
    constexpr std::string_view names = "btn?fr";  // U+0008 to U+000D; JSON has no short form of U+000B
    std::string out = "\"";
    while (!text.empty()) {
        auto c = static_cast<unsigned char>(text.front());
        std::size_t length = utf8Length(text);
        if (length == 0) {
            out += "\xEF\xBF\xBD";
            length = 1;
        } else if (c == '"' || c == '\\') {
            out += '\\';
            out += text.front();
        } else if (c >= 0x08 && c <= 0x0D && c != 0x0B) {
            out += '\\';
            out += names[c - 0x08u];
        } else if (c < 0x20) {
            out += "\\u00";
            out += hexOf(c);
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return out += '"';
}

}  // namespace weir::base
