#pragma once

#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "http/message_parser.hpp"
#include "support/catch.hpp"

namespace weir::http {

// What a parser made of a transcript.
struct Outcome {
    int status = 0;        // of the refusal; then nothing else counts
    std::string reason;
    std::string line;      // what the head says of the start line, of a refused message too
    std::string head;      // see describe()
    std::string target;    // see targetParts()
    std::string fields;    // "Name: value\n" for each line
    std::string body;
    std::size_t consumed = 0;
    bool done = false;

    bool operator==(const Outcome& other) const {
        if (line != other.line) return false;
        if (status || other.status) return status == other.status;
        return head == other.head && target == other.target && fields == other.fields && body == other.body && consumed == other.consumed &&
               done == other.done;
    }
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    out << "{" << outcome.line << "} ";
    if (outcome.status) return out << outcome.status << " " << outcome.reason;
    return out << "[" << outcome.head << "] [" << outcome.target << "] [" << outcome.fields << "] [" << outcome.body << "] consumed "
               << outcome.consumed << (outcome.done ? " done" : " not done");
}

inline std::string describeBody(BodyKind kind, std::uint64_t length) {
    switch (kind) {
    case BodyKind::None: return "none";
    case BodyKind::Length: return "length " + std::to_string(length);
    case BodyKind::Chunked: return "chunked";
    default: return "until close";
    }
}

inline std::string describe(const RequestHead& head) {
    std::string text{head.method};
    text.append(" ").append(head.target).append(" host=").append(head.host);
    text += head.version == 10 ? " 1.0 " : " 1.1 ";
    text += describeBody(head.body, head.contentLength);
    text += head.keepAlive ? " keep" : " close";
    if (head.expectContinue) text += " expect";
    if (head.upgrade) text += " upgrade";
    return text;
}

// What settling the target has made of it.
inline std::string targetParts(const RequestHead& head) {
    std::string text(head.received);
    text.append(" path=").append(head.path).append(" query=");
    return text.append(head.query.data() ? head.query : "none");
}
inline std::string targetParts(const ResponseHead&) { return {}; }

inline std::string describe(const ResponseHead& head) {
    std::string text = std::to_string(head.status) + " '" + std::string(head.reason) + "'";
    text += head.version == 10 ? " 1.0 " : " 1.1 ";
    text += describeBody(head.body, head.contentLength);
    if (head.hasLength) text += " said " + std::to_string(head.contentLength);
    text += head.keepAlive ? " keep" : " close";
    return text;
}

inline std::string startLine(const RequestHead& head) {
    return std::string(head.method).append(" ").append(head.target);
}

inline std::string startLine(const ResponseHead& head) {
    return std::to_string(head.status).append(" ").append(head.reason);
}

struct RequestSide {
    using Head = RequestHead;
    static RequestParser* make(base::Arena& arena, RequestHead& head, const ParseLimits& limits) {
        return RequestParser::make(arena, head, limits);
    }
};

template <bool forHead>
struct ResponseSide {
    using Head = ResponseHead;
    static ResponseParser* make(base::Arena& arena, ResponseHead& head, const ParseLimits& limits) {
        return ResponseParser::make(arena, head, limits, forHead);
    }
};

// Feeds `text` as a connection would: into one fixed buffer, `cuts` (ascending) saying where a read ended.
template <class Side>
Outcome play(std::string_view text, std::vector<std::size_t> cuts, bool thenClose = false, ParseLimits limits = {}) {
    base::ChunkPool pool;
    alignas(WEIR_ARENA_ALIGN) char firstChunk[base::ChunkPool::kChunkSize];
    base::Arena arena(pool, firstChunk, 0);
    typename Side::Head head(arena);
    auto* parser = Side::make(arena, head, limits);
    const std::unique_ptr<char[]> buffer(new char[text.size() + 1]);
    Outcome outcome;
    std::size_t end = 0;
    bool headSeen = false;
    cuts.push_back(text.size());
    for (std::size_t cut : cuts) {
        std::memcpy(buffer.get() + end, text.data() + end, cut - end);
        end = cut;
        char* const from = buffer.get() + outcome.consumed;
        const Fed fed = parser->feed(from, end - outcome.consumed);
        outcome.line = startLine(head);
        if (fed.error) {
            outcome.status = fed.error.status;
            outcome.reason = fed.error.reason;
            CHECK(fed.consumed == 0);
            CHECK(fed.body.empty());
            CHECK(parser->feed(from, 0).error.status == outcome.status);
            return outcome;
        }
        if (!fed.head) {
            CHECK(fed.consumed == 0);
            CHECK(outcome.line == startLine(typename Side::Head(arena)));
        }
        if (!fed.body.empty()) {
            CHECK(fed.body.data() >= from);
            CHECK(fed.body.data() + fed.body.size() <= from + fed.consumed);
        }
        headSeen = fed.head;
        outcome.consumed += fed.consumed;
        outcome.body += fed.body;
        outcome.done = fed.done;
        if (fed.done) break;
        if (fed.head) CHECK(outcome.consumed == end);  // a body leaves nothing over
    }
    if constexpr (!std::is_same_v<Side, RequestSide>) {
        if (thenClose) {
            const Fed fed = parser->finish();
            outcome.status = fed.error.status;
            outcome.reason = fed.error.reason;
            outcome.done = fed.done;
        }
    }
    if (headSeen) {
        outcome.head = describe(head);
        outcome.target = targetParts(head);
    }
    const auto within = [&](std::string_view view) {
        return view.data() >= buffer.get() && view.data() + view.size() <= buffer.get() + text.size();
    };
    for (const FieldTable::Field& field : head.fields) {
        CHECK(within(field.name));
        CHECK(within(field.value));
        CHECK(field.id == fieldId(field.name));
        if (field.verbatim) {
            const std::string line = std::string(field.name).append(": ").append(field.value).append("\r\n");
            CHECK(std::string_view(field.name.data(), line.size()) == line);
        }
        outcome.fields.append(field.name).append(": ").append(field.value).append("\n");
    }
    return outcome;
}

// The transcript in one read must give what it gives in two, cut anywhere, and byte by byte.
template <class Side>
Outcome playAtEveryCut(std::string_view text, bool thenClose = false, ParseLimits limits = {}) {
    const Outcome whole = play<Side>(text, {}, thenClose, limits);
    std::vector<std::size_t> all;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        INFO("cut at " << cut);
        CHECK(play<Side>(text, {cut}, thenClose, limits) == whole);
        all.push_back(cut);
    }
    INFO("byte by byte");
    CHECK(play<Side>(text, all, thenClose, limits) == whole);
    return whole;
}

}  // namespace weir::http
