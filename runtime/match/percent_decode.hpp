#pragma once

#include <string>
#include <string_view>

namespace weir::match {

// Undoes percent-encoding (RFC 3986, 2.1) for one comparison. Text without an escape is handed back as it is; up to
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
