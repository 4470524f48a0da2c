#pragma once

#include <cstddef>
#include <string_view>

#include "http/head_framing.hpp"
#include "http/message_parser.hpp"

namespace weir::http {

// Reads in one pass the heads that leave nothing to judge, as nearly all are: whole in the first read, within the
// limits, every line of the plainest form. It refuses nothing: at the first doubt it gives up, and HeadScan and Beast
// begin anew and judge. What it reads, they would read the same (plain_head_test holds it against them); it is there
// because they cost four times as much.
class PlainHead {
public:
    PlainHead(const char* data, std::size_t size, const ParseLimits& limits)
        : begin_(data), at_(data), end_(data + size), limits_(limits) {}

    struct RequestLine {
        std::string_view method;
        std::string_view target;
        int version = 0;
    };
    struct StatusLine {
        int status = 0;
        std::string_view reason;
        int version = 0;
    };

    // One of them, then fieldLines(). false: not plain, and what was filled in so far does not count. Views are into
    // `data`.
    bool requestLine(RequestLine& line);
    bool statusLine(StatusLine& line);
    // Up to the empty line; appends to `fields`.
    bool fieldLines(FieldTable& fields, HeadFraming& framing);

    std::size_t consumed() const { return static_cast<std::size_t>(at_ - begin_); }

private:
    bool take(char c) { return at_ != end_ && *at_++ == c; }  // false: at_ is of no use any more
    bool takeLineEnd() { return take('\r') && take('\n'); }
    bool takeVersion(int& version);

    const char* const begin_;
    const char* at_;
    const char* const end_;
    const ParseLimits& limits_;
};

}  // namespace weir::http
