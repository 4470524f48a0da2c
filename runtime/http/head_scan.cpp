#include "http/head_scan.hpp"

#include <cstring>

namespace weir::http {

namespace {

constexpr std::uint32_t kMaxBlankLines = 4;
constexpr std::size_t kVersionSize = 8;  // "HTTP/1.1"

bool isDigit(char c) { return c >= '0' && c <= '9'; }

ParseError tooLong(bool firstLine) {
    if (firstLine) return {414, "first line too long"};
    return {431, "header fields too long"};
}

// Reads and settles the version at `text`; the digits are one each.
ParseError settleVersion(char* text) {
    if (std::memcmp(text, "HTTP/", 5) != 0 || !isDigit(text[5]) || text[6] != '.' || !isDigit(text[7]))
        return {400, "HTTP version malformed"};
    if (text[5] != '1') return {505, "not HTTP/1"};
    if (text[7] != '0') text[7] = '1';
    return {};
}

}  // namespace

ParseError headTooLarge(std::string_view bufferedBytes) {
    const std::size_t start = bufferedBytes.find_first_not_of("\r\n");
    return tooLong(start == std::string_view::npos || bufferedBytes.find("\r\n", start) == std::string_view::npos);
}

ParseError HeadScan::scan(char* data, std::size_t size) {
    while (const void* found = searched_ < size ? std::memchr(data + searched_, '\n', size - searched_) : nullptr) {
        const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - data) + 1;
        if (end - line_ < 2 || data[end - 2] != '\r') return {400, "bare LF in the head"};
        if (const ParseError error = line(data, end)) return error;
        line_ = searched_ = end;
        if (complete()) return {};
    }
    searched_ = size;
    return partialLine(data, size);
}

ParseError HeadScan::line(char* data, std::size_t end) {
    const bool empty = end - line_ == 2;
    if (fields_ == 0) {
        if (empty && request_) {  // RFC 9112 2.2
            if (++blanks_ > kMaxBlankLines) return {400, "empty lines before the request line"};
            start_ = end;
            return {};
        }
        fields_ = end;
        return startLine(data + line_, end - line_ - 2);
    }
    if (empty) {
        end_ = end;
        return {};
    }
    const char first = data[line_];
    if (first == ' ' || first == '\t') return {400, "folded header line"};
    if (first == '\r') return {400, "bare CR in the head"};
    if (++count_ > limits_.fieldCount) return {431, "too many header fields"};
    if (end - fields_ > limits_.fieldBytes) return tooLong(false);
    return {};
}

bool HeadScan::plausible(char first) const { return request_ ? isFieldName({&first, 1}) : first == 'H'; }

ParseError HeadScan::startLine(char* text, std::size_t size) {
    if (!plausible(text[0])) return {400, "not HTTP"};
    if (size > limits_.requestLine) return tooLong(true);
    if (!request_) {
        if (size < kVersionSize) return {400, "status line malformed"};
        return settleVersion(text);
    }
    if (size < kVersionSize + 1 || text[size - kVersionSize - 1] != ' ') return {400, "request line malformed"};
    return settleVersion(text + size - kVersionSize);
}

// What can be said before the line's end is here: garbage (a TLS hello has no line end to wait for) and limits.
ParseError HeadScan::partialLine(const char* data, std::size_t size) const {
    if (line_ == size) return {};
    if (fields_ != 0) return size - fields_ > limits_.fieldBytes + 2 ? tooLong(false) : ParseError{};
    const bool maybeEmpty = request_ && data[line_] == '\r';
    if (!maybeEmpty && !plausible(data[line_])) return {400, "not HTTP"};
    return size - line_ > limits_.requestLine + 2 ? tooLong(true) : ParseError{};
}

}  // namespace weir::http
