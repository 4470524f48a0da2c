#include "fuzz/message_reader.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace weir::fuzz {

namespace {

using State = ReadMessage::State;

bool isToken(std::string_view text) {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
        return std::isalnum(c) || kMarks.find(static_cast<char>(c)) != std::string_view::npos;
    });
}

bool isText(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

bool same(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

class Reader {
public:
    Reader(std::string_view bytes, MessageKind kind) : bytes_(bytes), kind_(kind) {}

    ReadMessage read() {
        out_.state = head();
        if (out_.state == State::Whole) out_.state = body();
        out_.size = at_;
        return std::move(out_);
    }

private:
    State malformed(const char* fault) {
        out_.fault = fault;
        return State::Malformed;
    }

    // The next line without its CRLF; false: it is not all there.
    bool line(std::string_view& text) {
        const std::size_t end = bytes_.find("\r\n", at_);
        if (end == std::string_view::npos) return false;
        text = bytes_.substr(at_, end - at_);
        at_ = end + 2;
        return true;
    }

    State head() {
        std::string_view text;
        do {
            if (!line(text)) return State::Partial;
        } while (text.empty() && kind_ == MessageKind::Request);
        const State first = kind_ == MessageKind::Request ? requestLine(text) : statusLine(text);
        if (first != State::Whole) return first;
        for (;;) {
            if (!line(text)) return State::Partial;
            if (text.empty()) return State::Whole;
            if (const State read = field(text, &out_.fields); read != State::Whole) return read;
        }
    }

    State requestLine(std::string_view text) {
        const std::size_t first = text.find(' ');
        const std::size_t last = text.rfind(' ');
        if (first == last) return malformed("request line without three parts");
        out_.method = text.substr(0, first);
        out_.target = text.substr(first + 1, last - first - 1);
        if (!isToken(out_.method)) return malformed("method");
        const bool visible = std::all_of(out_.target.begin(), out_.target.end(),
                                         [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '#'; });
        if (out_.target.empty() || !visible) return malformed("target");
        return version(text.substr(last + 1)) ? State::Whole : malformed("request line's version");
    }

    State statusLine(std::string_view text) {
        if (!version(text.substr(0, 8))) return malformed("status line's version");
        const std::string_view digits = text.substr(8, 4);
        if (digits.size() < 4 || digits[0] != ' ' || digits[1] < '1' || !std::isdigit(digits[1]) ||
            !std::isdigit(digits[2]) || !std::isdigit(digits[3]))
            return malformed("status");
        out_.status = (digits[1] - '0') * 100 + (digits[2] - '0') * 10 + (digits[3] - '0');
        const std::string_view reason = text.substr(12);
        if (!reason.empty() && (reason[0] != ' ' || !isText(reason))) return malformed("reason");
        return State::Whole;
    }

    static bool version(std::string_view text) {
        return text.size() == 8 && text.substr(0, 7) == "HTTP/1." && std::isdigit(text[7]);
    }

    State field(std::string_view text, std::vector<ReadMessage::Field>* to) {
        const std::size_t colon = text.find(':');
        if (colon == std::string_view::npos) return malformed("field without a colon");
        const ReadMessage::Field field{text.substr(0, colon), trimmed(text.substr(colon + 1))};
        if (!isToken(field.name)) return malformed("field name");
        if (!isText(field.value)) return malformed("field value");
        if (to) to->push_back(field);
        return State::Whole;
    }

    State body() {
        const std::size_t lengths = out_.count("Content-Length");
        const bool coded = out_.count("Transfer-Encoding") > 0;
        if (coded && lengths > 0) return malformed("both Content-Length and Transfer-Encoding");
        if (coded && (out_.count("Transfer-Encoding") > 1 || !same(out_.value("Transfer-Encoding"), "chunked")))
            return malformed("Transfer-Encoding");
        std::uint64_t length = 0;
        for (const ReadMessage::Field& each : out_.fields) {
            if (!same(each.name, "Content-Length")) continue;
            if (!number(each.value, 10, length)) return malformed("Content-Length");
            if (kind_ == MessageKind::Request && lengths > 1) return malformed("Content-Length twice");
        }
        if (kind_ == MessageKind::ResponseToHead || (out_.status > 0 && out_.status < 200) || out_.status == 204 ||
            out_.status == 304)
            return State::Whole;
        if (coded) return chunks();
        if (lengths > 0) return take(length);
        if (kind_ == MessageKind::Request) return State::Whole;
        out_.body = bytes_.substr(at_);
        return State::UntilClose;
    }

    State take(std::uint64_t length) {
        const std::string_view there = bytes_.substr(at_).substr(0, length);
        out_.body += there;
        at_ += there.size();
        return there.size() == length ? State::Whole : State::Partial;
    }

    State chunks() {
        for (;;) {
            std::string_view text;
            if (!line(text)) return State::Partial;
            std::uint64_t size = 0;
            if (!isText(text) || !number(trimmed(text.substr(0, text.find(';'))), 16, size))
                return malformed("chunk size");
            if (size == 0) break;
            if (const State data = take(size); data != State::Whole) return data;
            if (bytes_.size() - at_ < 2) return State::Partial;
            if (bytes_.substr(at_, 2) != "\r\n") return malformed("chunk's end");
            at_ += 2;
        }
        for (;;) {
            std::string_view text;
            if (!line(text)) return State::Partial;
            if (text.empty()) return State::Whole;
            if (const State read = field(text, nullptr); read != State::Whole) return read;
        }
    }

    static bool number(std::string_view text, unsigned base, std::uint64_t& value) {
        value = 0;
        for (const char c : text) {
            const int digit = std::isdigit(static_cast<unsigned char>(c)) ? c - '0'
                              : base == 16 && std::isxdigit(static_cast<unsigned char>(c))
                                  ? std::tolower(static_cast<unsigned char>(c)) - 'a' + 10
                                  : -1;
            if (digit < 0 || value > (std::uint64_t{INT64_MAX} - static_cast<unsigned>(digit)) / base) return false;
            value = value * base + static_cast<unsigned>(digit);
        }
        return !text.empty();
    }

    std::string_view bytes_;
    const MessageKind kind_;
    std::size_t at_ = 0;
    ReadMessage out_;
};

}  // namespace

std::size_t ReadMessage::count(std::string_view name) const {
    return static_cast<std::size_t>(
        std::count_if(fields.begin(), fields.end(), [&](const Field& each) { return same(each.name, name); }));
}

std::string_view ReadMessage::value(std::string_view name) const {
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const Field& each) { return same(each.name, name); });
    return found == fields.end() ? std::string_view() : found->value;
}

ReadMessage readMessage(std::string_view bytes, MessageKind kind) { return Reader(bytes, kind).read(); }

}  // namespace weir::fuzz
