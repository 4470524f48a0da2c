// Input: the bytes of one request and what follows it, as sent.
#include "fuzz/parser_play.hpp"

namespace {

using namespace weir;

void inspect(const http::RequestHead& head, const fuzz::Outcome& outcome) {
    for (const std::string_view part : {head.method, head.received, head.target, head.path, head.query, head.host})
        WEIR_ASSERT(!fuzz::hasLineEnd(part));
    WEIR_ASSERT(!head.method.empty() && (head.target == "*" || head.target.starts_with('/')));
    WEIR_ASSERT(head.target.starts_with(head.path));
    WEIR_ASSERT(head.body != http::BodyKind::UntilClose);
    if (head.body == http::BodyKind::None) WEIR_ASSERT(outcome.body.empty());
    if (head.body == http::BodyKind::Length) {
        WEIR_ASSERT(outcome.body.size() <= head.contentLength);
        WEIR_ASSERT(outcome.done == (outcome.body.size() == head.contentLength));
    }
}

void check(std::string_view text, bool tight) {
    const auto make = [&](base::Arena& arena, http::RequestHead& head) {
        return http::RequestParser::make(arena, head, fuzz::limitsOf(tight));
    };
    const fuzz::Outcome outcome = fuzz::playEveryWay<http::RequestHead>(text, tight, make, inspect);
    if (outcome.done) fuzz::compare(text, fuzz::MessageKind::Request, outcome);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check(text, false);
    check(text, true);
    return 0;
}
