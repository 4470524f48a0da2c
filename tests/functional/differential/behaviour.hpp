#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "functional/differential/message_reading.hpp"

namespace weir::functional {

// What a proxy did with one input. As text, for the corpus and the report:
//     200 "ok", kept -> POST /s1/e {X-A: 1} "Z"; part of GET /s1/b
// that is the answers, whether the connection then served another request, and what the upstream got. Only fields that
// are out of the ordinary are named; a body "ok" is not.
struct Behaviour {
    std::vector<std::string> answers;
    bool kept = false;
    std::vector<std::string> forwarded;

    std::string text() const;
    // Throws std::runtime_error for what text() does not write.
    static Behaviour parse(std::string_view text);

    // Whole requests that went to the upstream, or answers of success when those are more (OPTIONS *).
    std::size_t requestsServed() const;
    // Whole answers to the client that are not the proxy's own word for a broken upstream.
    std::size_t repliesPassed() const;
    // Nothing went to the upstream, and every answer is an error or cut off.
    bool isRefusal() const;
    // Names of the fields out of the ordinary, in small letters.
    std::vector<std::string> forwardedNames() const;
    std::vector<std::string> answeredNames() const;
};

// Items of a Behaviour. `old`: the client speaks HTTP/1.0, so chunks are out of the ordinary.
std::string answerText(const Reading& answer, bool old);
std::string forwardedText(const Reading& request, const std::string& upstreamAddress);

// The same items in a row as one, with their number.
void addItem(std::vector<std::string>& items, std::size_t& repeated, const std::string& item);

}  // namespace weir::functional
