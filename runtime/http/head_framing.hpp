#pragma once

#include <cstdint>
#include <string_view>

#include "http/field_table.hpp"
#include "http/message_parser.hpp"

namespace weir::http {

// What the field lines of a head say about framing and persistence, line by line; whoever reads the lines.
struct HeadFraming {
    explicit HeadFraming(bool request) : ofRequest(request) {}

    std::string_view host;    // these two: data() == nullptr without one
    std::string_view coding;
    std::uint64_t length = 0;
    std::string_view why;     // a line was refused
    const bool ofRequest;
    bool hasLength = false;
    bool close = false;
    bool keepAlive = false;
    bool upgrade = false;
    bool expectContinue = false;

    enum class Line : std::uint8_t {
        Keep,
        Twin,     // an upstream's equal Content-Length again: one line is enough
        Refused,  // `why` says why
    };

    static constexpr FieldIds kHeeded = bit(FieldId::Connection) | bit(FieldId::ContentLength) | bit(FieldId::Expect) |
                                        bit(FieldId::Host) | bit(FieldId::TransferEncoding);
    // Takes in one line. An id that is none of kHeeded says nothing.
    Line take(FieldId id, std::string_view value);

    bool chunked() const { return coding.data() != nullptr; }
    bool persists(int version) const { return !close && (version >= 11 || keepAlive); }

    // What RFC 9112 6.1 and 6.3 say of both sides' messages, when all lines are taken in.
    ParseError check(int version) const { return chunked() ? checkCoding(version) : ParseError{}; }

private:
    ParseError checkCoding(int version) const;
    Line takeLength(std::string_view value);
    void takeConnection(std::string_view list);
};

}  // namespace weir::http
