#pragma once

#include <cstddef>

#include "http/message_parser.hpp"

namespace weir::http {

// Finds the end of a head line by line, resuming where it stopped, and refuses what can be told without parsing: bare
// LF (Beast would wait for an end that never comes), folded lines, versions that are not HTTP/1, anything past the
// limits. So a head is handed to Beast once, whole.
class HeadScan {
public:
    HeadScan(bool request, const ParseLimits& limits) : limits_(limits), request_(request) {}

    // data: the message from its first byte, as far as it is here. On success with complete() the head is
    // [start(), end()). A minor version above 1 is overwritten with 1: Beast refuses it, RFC 9110 2.5 does not.
    ParseError scan(char* data, std::size_t size);

    bool complete() const { return end_ != 0; }
    std::size_t start() const { return start_; }        // behind empty lines
    std::size_t startEnd() const { return fields_; }    // of the request or status line
    std::size_t end() const { return end_; }

private:
    ParseError line(char* data, std::size_t end);
    bool plausible(char first) const;
    ParseError startLine(char* text, std::size_t size);
    ParseError partialLine(const char* data, std::size_t size) const;

    const ParseLimits limits_;
    std::size_t start_ = 0;
    std::size_t line_ = 0;      // where the line at hand begins
    std::size_t searched_ = 0;  // no LF between line_ and here
    std::size_t fields_ = 0;    // where the field lines begin; 0: the first line is not complete
    std::size_t end_ = 0;
    std::uint32_t blanks_ = 0;
    std::uint32_t count_ = 0;
    const bool request_;
};

}  // namespace weir::http
