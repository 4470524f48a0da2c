// Input: the bytes of one response and what follows it, as sent. It is read as the answer to a GET and to a HEAD.
#include "fuzz/parser_play.hpp"

namespace {

using namespace weir;

void inspect(const http::ResponseHead& head, const fuzz::Outcome& outcome) {
    WEIR_ASSERT(!fuzz::hasLineEnd(head.reason));
    WEIR_ASSERT(head.status >= 100 && head.status <= 999);
    if (head.body == http::BodyKind::None) WEIR_ASSERT(outcome.body.empty() && outcome.done);
    if (head.body == http::BodyKind::UntilClose) WEIR_ASSERT(!outcome.done && !head.keepAlive);
    if (head.body == http::BodyKind::Length) {
        WEIR_ASSERT(outcome.body.size() <= head.contentLength);
        WEIR_ASSERT(outcome.done == (outcome.body.size() == head.contentLength));
    }
}

void check(std::string_view text, bool forHead, bool tight) {
    const auto make = [&](base::Arena& arena, http::ResponseHead& head) {
        return http::ResponseParser::make(arena, head, fuzz::limitsOf(tight), forHead);
    };
    const fuzz::Outcome outcome = fuzz::playEveryWay<http::ResponseHead>(text, tight, make, inspect);
    WEIR_ASSERT(!outcome.status || outcome.status == 502);
    const auto kind = forHead ? fuzz::MessageKind::ResponseToHead : fuzz::MessageKind::Response;
    if (outcome.done) fuzz::compare(text, kind, outcome);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const bool forHead : {false, true}) {
        check(text, forHead, false);
        check(text, forHead, true);
    }
    return 0;
}
