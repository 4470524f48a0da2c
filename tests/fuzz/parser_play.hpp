#pragma once

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "fuzz/message_reader.hpp"
#include "http/message_parser.hpp"

// What request_parser_fuzz and response_parser_fuzz share.
namespace weir::fuzz {

// What a parser made of some bytes.
struct Outcome {
    int status = 0;  // of the refusal; then nothing else counts
    bool head = false;
    bool done = false;
    std::size_t consumed = 0;
    std::string fields;  // "Name: value\n" for each line
    std::string body;

    bool operator==(const Outcome& other) const {
        if (status || other.status) return status == other.status;
        return head == other.head && done == other.done && consumed == other.consumed && fields == other.fields &&
               body == other.body;
    }
};

// Where reads end, as the text itself says: up to four places.
inline std::vector<std::size_t> cutsOf(std::string_view text) {
    std::vector<std::size_t> cuts;
    std::uint64_t mixed = 0xcbf29ce484222325;
    for (const unsigned char c : text) mixed = (mixed ^ c) * 0x100000001b3;
    for (std::uint64_t left = mixed % 5; left > 0 && !text.empty(); --left) {
        mixed = mixed * 6364136223846793005 + 1442695040888963407;
        cuts.push_back((mixed >> 32) % text.size());
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

inline std::vector<std::size_t> everyByte(std::string_view text) {
    std::vector<std::size_t> cuts(text.size());
    std::iota(cuts.begin(), cuts.end(), std::size_t{0});
    return cuts;
}

inline bool hasLineEnd(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos; }

// Feeds `text` into one buffer as a connection would; `cuts` (ascending) say where a read ended. What has not been read
// yet is poison to AddressSanitizer. make(arena, head) answers the parser, inspect(head, outcome) sees what was taken.
template <class Head, class Make, class Inspect>
Outcome play(std::string_view text, const std::vector<std::size_t>& cuts, const Make& make, const Inspect& inspect) {
    base::ChunkPool pool;
    void* chunk = pool.take();
    Outcome outcome;
    {
        base::Arena arena(pool, chunk, 0);
        Head head(arena);
        auto* parser = make(arena, head);
        const std::unique_ptr<char[]> buffer(new char[text.size() + 1]);
        ASAN_POISON_MEMORY_REGION(buffer.get(), text.size() + 1);
        std::size_t end = 0;
        for (std::size_t next = 0; next <= cuts.size() && !outcome.done && !outcome.status; ++next) {
            const std::size_t cut = next < cuts.size() ? cuts[next] : text.size();
            ASAN_UNPOISON_MEMORY_REGION(buffer.get() + end, cut - end);
            std::memcpy(buffer.get() + end, text.data() + end, cut - end);
            end = cut;
            char* const from = buffer.get() + outcome.consumed;
            const http::Fed fed = parser->feed(from, end - outcome.consumed);
            WEIR_ASSERT(fed.consumed <= end - outcome.consumed);
            if (fed.error) {
                WEIR_ASSERT(fed.consumed == 0 && fed.body.empty() && !fed.done && !fed.error.reason.empty());
                WEIR_ASSERT(parser->feed(from, 0).error.status == fed.error.status);
                outcome.status = fed.error.status;
                break;
            }
            WEIR_ASSERT(fed.head || (fed.consumed == 0 && !fed.done));
            WEIR_ASSERT(fed.body.empty() ||
                        (fed.body.data() >= from && fed.body.data() + fed.body.size() <= from + fed.consumed));
            outcome.head = fed.head;
            outcome.done = fed.done;
            outcome.consumed += fed.consumed;
            outcome.body += fed.body;
            WEIR_ASSERT(!fed.head || fed.done || outcome.consumed == end);  // a body leaves nothing over
        }
        if (outcome.head && !outcome.status) {
            for (const http::FieldTable::Field& field : head.fields) {
                WEIR_ASSERT(field.name.data() >= buffer.get() && field.value.data() >= buffer.get());
                WEIR_ASSERT(field.name.data() + field.name.size() <= buffer.get() + text.size());
                WEIR_ASSERT(field.value.data() + field.value.size() <= buffer.get() + text.size());
                WEIR_ASSERT(!hasLineEnd(field.name) && !hasLineEnd(field.value) && !field.name.empty());
                WEIR_ASSERT(field.id == http::fieldId(field.name));
                outcome.fields.append(field.name).append(": ").append(field.value).append("\n");
            }
            inspect(head, outcome);
        }
        ASAN_UNPOISON_MEMORY_REGION(buffer.get(), text.size() + 1);
    }
    pool.give(chunk);
    return outcome;
}

// In one read, in a few and byte by byte: the outcome is the same. `tight`: the limits are so small that it depends on
// the reads whether a limit or something else is what a bad message is refused for.
template <class Head, class Make, class Inspect>
Outcome playEveryWay(std::string_view text, bool tight, const Make& make, const Inspect& inspect) {
    const Outcome whole = play<Head>(text, {}, make, inspect);
    for (const std::vector<std::size_t>& cuts : {cutsOf(text), everyByte(text)}) {
        const Outcome cut = play<Head>(text, cuts, make, inspect);
        WEIR_ASSERT(cut == whole || (tight && cut.status && whole.status));
    }
    return whole;
}

// Tight ones are reached by inputs of a few hundred bytes.
inline http::ParseLimits limitsOf(bool tight) {
    if (!tight) return {};
    return {.requestLine = 48, .fieldBytes = 128, .fieldCount = 6, .chunkExtension = 12};
}

// What the parser accepted, whole, must read the same to somebody else.
inline void compare(std::string_view text, MessageKind kind, const Outcome& outcome) {
    const ReadMessage message = readMessage(text, kind);
    WEIR_ASSERT(message.state == ReadMessage::State::Whole);
    WEIR_ASSERT(message.size == outcome.consumed);
    WEIR_ASSERT(message.body == outcome.body);
}

}  // namespace weir::fuzz
