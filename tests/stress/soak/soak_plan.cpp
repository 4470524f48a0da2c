#include "stress/soak/soak_plan.hpp"

#include <algorithm>
#include <charconv>

namespace weir::soak {

namespace {

constexpr std::size_t kIdDigits = 16;
constexpr std::uint32_t kReplayBytes = 65536;  // upstream.replayBodyBytes

// Mostly small, as requests are; now and then more than any buffer.
std::uint32_t someSize(Random& random) {
    const std::uint32_t kind = random.below(1000);
    if (kind < 600) return random.below(100);
    if (kind < 930) return random.below(4000);
    if (kind < 992) return random.below(20000);
    return random.below(120000);
}

Route someRoute(Random& random) {
    const std::uint32_t kind = random.below(1000);
    if (kind < 600) return Route::Good;
    if (kind < 620) return Route::Fault;
    if (kind < 622) return Route::Hang;
    if (kind < 720) return Route::Dying;
    if (kind < 820) return Route::Flee;
    if (kind < 910) return Route::Flick;
    return Route::Meta;
}

void planFault(Plan& plan, Random& random) {
    plan.fold = false;
    plan.sleepMs = 0;
    plan.pauseMs = 0;
    if (plan.route == Route::Hang) {
        plan.fault = Fault::Hang;
        return;
    }
    constexpr std::array kFaults{Fault::Reset, Fault::Garbage, Fault::CutHead, Fault::CutBody, Fault::ResetBody,
                                 Fault::Surplus};
    plan.fault = kFaults[random.below(kFaults.size())];
    if (plan.fault == Fault::Surplus) {  // in one segment with what stands before it: later it could be anybody's
        plan.answered = Framing::Length;
        plan.answerBytes %= 4000;
    }
    if (plan.fault != Fault::CutBody && plan.fault != Fault::ResetBody) return;
    plan.method = plan.method == Method::Head ? Method::Get : plan.method;
    plan.status = 200;
    plan.answerBytes += 2;
    if (plan.answered == Framing::UntilClose) plan.answered = Framing::Chunked;
}

// Bytes that look like no other part of themselves.
const std::string& noise() {
    static const std::string bytes = [] {
        Random random(1);
        std::string made(512 * 1024, '\0');
        for (char& c : made) c = static_cast<char>(random.below(256));
        return made;
    }();
    return bytes;
}

std::string_view tail(std::uint64_t id, Direction direction) {
    const std::uint64_t mixed = (id + (direction == Direction::Answer ? 1 : 0) * 0x517cc1b7ULL) * 0x9e3779b97f4a7c15ULL;
    return std::string_view(noise()).substr(mixed >> 46);  // below 2^18, so at least 256 KiB are left
}

template <class Number>
bool take(std::string_view& text, Number& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return true;
}

template <class Enum>
bool takeEnum(std::string_view& text, Enum last, Enum& out) {
    int number = 0;
    if (!take(text, number) || number < 0 || number > static_cast<int>(last)) return false;
    out = static_cast<Enum>(number);
    return true;
}

void appendChunks(std::string& out, std::uint64_t id, Direction direction, std::size_t size) {
    std::string body;
    appendBody(body, id, direction, size);
    Random random(id);
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t piece = std::min<std::size_t>(body.size() - at, random.between(1, 6000));
        char digits[16];
        const auto end = std::to_chars(digits, digits + sizeof digits, piece, 16).ptr;
        out.append(digits, end) += "\r\n";
        out.append(body, at, piece) += "\r\n";
        at += piece;
    }
    out += "0\r\n\r\n";
}

}  // namespace

Plan Plan::make(std::uint64_t id, Random& random) {
    Plan plan;
    plan.id = id;
    plan.route = someRoute(random);
    const std::uint32_t kind = random.below(100);
    plan.method = kind < 50 ? Method::Get : kind < 60 ? Method::Head : kind < 85 ? Method::Post
                : kind < 95 ? Method::Put : Method::Delete;
    if (plan.method == Method::Post || plan.method == Method::Put) {
        plan.sent = random.perMille(300) ? Framing::Chunked : Framing::Length;
        plan.sentBytes = someSize(random);
    }
    const std::uint32_t status = random.below(100);
    plan.status = status < 84 ? 200 : status < 88 ? 204 : status < 92 ? 304 : status < 96 ? 404 : 500;
    const std::uint32_t framing = random.below(100);
    plan.answered = framing < 65 ? Framing::Length : framing < 97 ? Framing::Chunked : Framing::UntilClose;
    plan.answerBytes = someSize(random);
    if (random.perMille(50)) plan.pauseMs = random.below(20);
    if (random.perMille(100)) plan.sleepMs = random.below(30);
    plan.fold = random.perMille(100);
    plan.hints = random.perMille(20);
    if (plan.route == Route::Fault || plan.route == Route::Hang) planFault(plan, random);
    if (!plan.hasAnswerBody() || plan.route == Route::Dying || plan.route == Route::Flee) plan.fold = false;
    return plan;
}

std::optional<Plan> Plan::parse(std::string_view text) {
    Plan plan;
    int hints = 0;
    const bool whole = take(text, plan.id) && takeEnum(text, Route::Meta, plan.route) &&
                       takeEnum(text, Method::Delete, plan.method) && takeEnum(text, Framing::UntilClose, plan.sent) &&
                       take(text, plan.sentBytes) && take(text, plan.status) &&
                       takeEnum(text, Framing::UntilClose, plan.answered) && take(text, plan.answerBytes) &&
                       takeEnum(text, Fault::Hang, plan.fault) && take(text, plan.pauseMs) && take(text, hints);
    plan.hints = hints != 0;
    if (!whole || !text.empty()) return std::nullopt;
    return plan;
}

std::string Plan::text() const {
    std::string out = std::to_string(id);
    for (const std::uint32_t each :
         {static_cast<std::uint32_t>(route), static_cast<std::uint32_t>(method), static_cast<std::uint32_t>(sent),
          sentBytes, static_cast<std::uint32_t>(status), static_cast<std::uint32_t>(answered), answerBytes,
          static_cast<std::uint32_t>(fault), pauseMs, static_cast<std::uint32_t>(hints)})
        out += ' ' + std::to_string(each);
    return out;
}

std::size_t Plan::appendRequest(std::string& out) const {
    const std::string digits = hex(id);
    out += kMethodNames[static_cast<std::size_t>(method)];
    out += " /http/";
    out += kRouteNames[static_cast<std::size_t>(route)];
    out += '/' + digits + " HTTP/1.1\r\nHost: weir.test\r\nX-Request-Id: " + digits + "\r\nX-Plan: " + text() + "\r\n";
    if (sleepMs > 0) out += "X-Sleep: " + std::to_string(sleepMs) + "\r\n";
    if (fold) out += "X-Fold: 1\r\n";
    if (close) out += "Connection: close\r\n";
    if (expects) out += "Expect: 100-continue\r\n";
    return appendFramed(out, sent, id, Direction::Request, sentBytes);
}

bool Plan::repeatable() const {
    if (method == Method::Post) return false;
    return sent == Framing::None || (sent == Framing::Length && sentBytes <= kReplayBytes);
}

bool allowed(const Plan& plan, End end) {
    switch (plan.route) {
        case Route::Good: return end == End::Planned;
        case Route::Fault:
            if (plan.fault == Fault::CutBody) return end == End::Cut;
            if (plan.fault == Fault::Surplus) return end == End::Planned;
            return end == End::Unavailable || (end == End::Cut && plan.fault == Fault::ResetBody);
        case Route::Hang: return end == End::Late;
        case Route::Dying:
            return end == End::Planned || end == End::Unavailable || end == End::Late || end == End::Cut;
        case Route::Flee:
            if (end == End::Planned || end == End::Cut) return true;
            return !plan.repeatable() && (end == End::Unavailable || end == End::Late);
        case Route::Flick: return end == End::Planned || end == End::Unmatched;
        case Route::Meta: return end == End::Planned || end == End::Unavailable;
    }
    return false;
}

std::string hex(std::uint64_t id) {
    std::string out(kIdDigits, '0');
    for (std::size_t i = kIdDigits; i-- > 0; id >>= 4) out[i] = "0123456789abcdef"[id & 15];
    return out;
}

void appendBody(std::string& out, std::uint64_t id, Direction direction, std::size_t size) {
    const std::size_t digits = std::min(size, kIdDigits);
    out += hex(id).substr(0, digits);
    out += tail(id, direction).substr(0, size - digits);
}

bool isBody(std::uint64_t id, Direction direction, std::size_t at, std::string_view piece) {
    if (at < kIdDigits) {
        const std::size_t digits = std::min(piece.size(), kIdDigits - at);
        if (hex(id).compare(at, digits, piece.substr(0, digits)) != 0) return false;
        piece.remove_prefix(digits);
        at += digits;
    }
    return piece.empty() || tail(id, direction).substr(at - kIdDigits, piece.size()) == piece;
}

std::size_t appendFramed(std::string& out, Framing framing, std::uint64_t id, Direction direction, std::size_t size) {
    if (framing == Framing::Length) out += "Content-Length: " + std::to_string(size) + "\r\n";
    if (framing == Framing::Chunked) out += "Transfer-Encoding: chunked\r\n";
    if (framing == Framing::UntilClose) out += "Connection: close\r\n";
    out += "\r\n";
    const std::size_t begin = out.size();
    if (framing == Framing::Length || framing == Framing::UntilClose) appendBody(out, id, direction, size);
    if (framing == Framing::Chunked) appendChunks(out, id, direction, size);
    return begin;
}

}  // namespace weir::soak
