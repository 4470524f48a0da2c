#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/message_parser.hpp"

namespace weir::http {

// The chunked coding (RFC 9112 7.1), decoded in place and at any cut: keeps no bytes between calls. Line ends are CRLF
// only; sizes are at most 16 digits and below 2^63; extensions are skipped but hold no control byte; blanks behind the
// size are taken as an empty extension (old servers pad with them). Trailer lines are checked, counted and dropped.
class ChunkDecoder {
public:
    explicit ChunkDecoder(const ParseLimits& limits) : limits_(limits) {}

    struct Step {
        std::size_t consumed = 0;  // all bytes, unless the body ended before
        std::string_view data;     // one run within the bytes passed
        ParseError error;
    };

    Step decode(char* bytes, std::size_t size);
    bool done() const { return state_ == State::Done; }

private:
    enum class State : std::uint8_t {
        Size,          // within the size, maybe before its first digit
        Padding,       // blanks behind the size
        Extension,
        SizeLf,
        Data,
        DataCr,
        DataLf,
        TrailerStart,
        TrailerName,
        TrailerValue,
        TrailerLf,
        EndLf,
        Done,
    };

    // Each takes one byte of a line and says what is wrong with it, or nullptr.
    const char* framing(unsigned char c);
    const char* size(unsigned char c);
    const char* extension(unsigned char c);
    ParseError trailer(unsigned char c);

    const ParseLimits limits_;
    std::uint64_t size_ = 0;                 // of the chunk; what is left of it in state Data
    std::uint32_t extensionBytes_ = 0;       // of this line
    std::uint32_t extensionTotal_ = 0;
    std::uint32_t trailerBytes_ = 0;
    std::uint32_t trailerCount_ = 0;
    std::uint8_t digits_ = 0;
    State state_ = State::Size;
};

}  // namespace weir::http
