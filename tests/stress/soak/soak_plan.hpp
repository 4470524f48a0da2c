#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stress/soak/random.hpp"

namespace weir::soak {

// What the path says: /http/<route>/<id>. Each has upstreams and data of its own.
enum class Route { Good, Fault, Hang, Dying, Flee, Flick, Meta };
inline constexpr std::array<const char*, 7> kRouteNames{"good", "fault", "hang", "dying", "flee", "flick", "meta"};

enum class Method { Get, Head, Post, Put, Delete };
inline constexpr std::array<const char*, 5> kMethodNames{"GET", "HEAD", "POST", "PUT", "DELETE"};

enum class Framing { None, Length, Chunked, UntilClose };

// What the upstream does instead of just answering.
enum class Fault {
    None,
    Reset,      // RST when it has read the request
    Garbage,    // bytes that are not HTTP
    CutHead,    // ends within the head
    CutBody,    // ends within the body
    ResetBody,  // RST within the body
    Surplus,    // a whole answer, and behind it another that nobody has asked for
    Hang,       // nothing, ever
};

// One request and the answer it asks its upstream for; it travels in the field X-Plan.
struct Plan {
    std::uint64_t id = 0;
    Route route = Route::Good;
    Method method = Method::Get;
    Framing sent = Framing::None;  // of the request's body
    std::uint32_t sentBytes = 0;
    int status = 200;
    Framing answered = Framing::Length;
    std::uint32_t answerBytes = 0;
    Fault fault = Fault::None;
    std::uint32_t pauseMs = 0;  // before the upstream answers
    std::uint32_t sleepMs = 0;  // that the extension waits
    bool hints = false;         // a 103 comes before the answer
    bool expects = false;       // the client waits for a 100 before it sends the body
    bool fold = false;          // the extension collects the answer's body and lengthens it
    bool close = false;         // the client's last on this connection
    bool halfClose = false;     // it also closes its sending side

    // One with this id, all else by chance.
    static Plan make(std::uint64_t id, Random& random);
    // What text() says; nothing when it is something else.
    static std::optional<Plan> parse(std::string_view text);

    std::string text() const;
    // Head and body as the client sends them, appended. Where the body begins in `out`.
    std::size_t appendRequest(std::string& out) const;
    bool hasAnswerBody() const { return method != Method::Head && status != 204 && status != 304; }
    // Whether RFC 9110 9.2.2 lets the gateway send it again, and what it kept of the body is enough for that.
    bool repeatable() const;
};

// How a request ended for its client.
enum class End {
    Planned,      // the answer that the plan asks for, all of it and nothing else
    Unavailable,  // 502 of the gateway
    Late,         // 504 of the gateway
    Unmatched,    // 404 of the gateway
    Cut,          // the connection was reset before the answer was whole
    Aborted,      // the client went
    Unanswered,   // behind an answer after which the gateway had to close
};
inline constexpr std::array<const char*, 7> kEndNames{"planned", "502", "504", "404", "cut", "aborted", "unanswered"};

// The table of what may become of a request whose client stays, by route:
//
//   good    | three upstreams that do not fail                          | planned
//   fault   | the upstream fails by plan, the rule has no retry         | 502; CutBody cut, ResetBody either,
//           |                                                           | Surplus planned
//   hang    | the upstream does not answer                              | 504
//   dying   | two upstreams that die and return; current, retry 1       | planned, 502, 504, cut
//   flee    | both kinds; failover, retry 5                             | planned, cut; 502 and 504 if not repeatable
//   flick   | as good, but the rule comes and goes                      | planned, 404
//   meta    | as good, but metadata makes it another RPC type           | planned, 502
bool allowed(const Plan& plan, End end);

// Lower-case hex, 16 digits.
std::string hex(std::uint64_t id);

// Bodies: the id's digits, then bytes that depend on id, direction and position.
enum class Direction { Request, Answer };
void appendBody(std::string& out, std::uint64_t id, Direction direction, std::size_t size);
// Whether `piece` is what stands from `at` on.
bool isBody(std::uint64_t id, Direction direction, std::size_t at, std::string_view piece);
// The fields that frame it, the empty line, and the body. Where the body begins in `out`.
std::size_t appendFramed(std::string& out, Framing framing, std::uint64_t id, Direction direction, std::size_t size);

}  // namespace weir::soak
