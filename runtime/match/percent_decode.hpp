#pragma once

#include <string>
#include <string_view>

#include "match/steps.hpp"

namespace weir::match {

// The value of a hexadecimal digit, or -1.
constexpr int hexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Undoes percent-encoding (RFC 3986, 2.1) and hands the bytes to `take` one by one. A malformed escape stands for its
// own characters.
template <class Take>
void decodeEach(std::string_view text, Take take) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        countSteps(1);
        const bool escape = text[i] == '%' && i + 2 < text.size() && hexDigit(text[i + 1]) >= 0 &&
                            hexDigit(text[i + 2]) >= 0;
        if (escape) {
            take(static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2])));
            i += 2;
        } else {
            take(text[i]);
        }
    }
}

// Decodes a text for one comparison. Text without an escape is handed back as it is; up to
// kInline decoded bytes stay in the buffer, only longer texts go to the heap.
class DecodeBuffer {
public:
    static constexpr std::size_t kInline = 256;
    enum class Plus { Literal, Space };  // a '+' in a path means itself, in a query a blank

    DecodeBuffer() {}
    DecodeBuffer(const DecodeBuffer&) = delete;
    DecodeBuffer& operator=(const DecodeBuffer&) = delete;

    // Valid until the next call, and as long as both `text` and this buffer. A malformed escape stands for its own
    // characters.
    std::string_view decode(std::string_view text, Plus plus);

private:
    char inline_[kInline];  // left uninitialised: most values never touch it
    std::string heap_;
};

}  // namespace weir::match
