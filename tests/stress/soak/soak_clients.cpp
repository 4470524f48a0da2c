#include "stress/soak/soak_clients.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace weir::soak {

namespace {

constexpr std::size_t kAll = static_cast<std::size_t>(-1);
constexpr std::chrono::seconds kPatience{30};  // longer than any deadline of the gateway that the soak may meet

std::uint64_t toNumber(std::optional<std::string_view> text) {
    std::uint64_t value = kAll;
    if (text) std::from_chars(text->data(), text->data() + text->size(), value);
    return value;
}

bool mayBeCut(const Plan& plan) { return allowed(plan, End::Cut); }

}  // namespace

Clients::Clients(int port, std::size_t connections, std::uint64_t seed, const DataCount& data, Tally& tally,
                 Findings& findings)
    : port_(port), random_(seed), firstId_(seed << 40), data_(data), tally_(tally), findings_(findings),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)), clients_(connections) {
    thread_ = std::thread([this] {
        try {
            run();
        } catch (const std::exception& error) {
            findings_.add(std::string("the clients cannot go on: ") + error.what());
        }
    });
}

void Clients::stop() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    thread_.join();
    ::close(epoll_);
}

void Clients::run() {
    for (std::size_t i = 0; i < clients_.size(); ++i) begin(i);
    std::array<epoll_event, 256> events;
    auto swept = Clock::now();
    while (open_ > 0) {
        const int n = ::epoll_wait(epoll_, events.data(), events.size(), begun_.empty() ? timers_.waitMs(100) : 0);
        for (int i = 0; i < n; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            Stream& stream = clients_[event.data.u64].stream;
            if (stream.fd < 0) continue;
            stream.noted(event.events);
            ready(event.data.u64);
        }
        timers_.run([this](std::uint64_t tag) { fire(tag); });
        for (std::size_t i = 0; i < begun_.size(); ++i) {
            if (clients_[begun_[i]].stream.fd >= 0) ready(begun_[i]);
        }
        begun_.clear();
        if (Clock::now() - swept < std::chrono::seconds(1)) continue;
        swept = Clock::now();
        sweep();
    }
}

void Clients::begin(std::size_t number) {
    Client& client = clients_[number];
    if (client.stream.fd < 0) {
        if (stopping_) return;
        client.stream.fd = beginConnect(port_);
        watch(epoll_, client.stream.fd, number);
        ++open_;
    } else if (stopping_) {
        client.stream.close();
        --open_;
        return;
    }
    client.serial = ++serials_;
    client.thinks = false;
    client.reads = true;
    client.halfClosed = false;
    client.since = Clock::now();
    planBatch(client);
    planLeaving(client, number);
    begun_.push_back(number);
}

void Clients::planBatch(Client& client) {
    client.batch.clear();
    client.answered = 0;
    client.came = 0;
    client.stream.out.clear();
    client.stream.sent = 0;
    const std::uint32_t size = random_.perMille(150) ? random_.between(2, 6) : 1;
    for (std::uint32_t i = 0; i < size; ++i) {
        Pending pending{Plan::make(firstId_ + ++made_, random_), data_.done};
        if (i + 1 == size) {
            pending.plan.close = random_.perMille(20);
            pending.plan.halfClose = random_.perMille(10);
            pending.plan.expects = pending.plan.sentBytes > 0 && random_.perMille(20);
        }
        client.bodyAt = pending.plan.appendRequest(client.stream.out);
        client.batch.push_back(pending);
        ++tally_.sent;
    }
}

// Where it stops sending for a while, stops reading, or goes; mostly nowhere.
void Clients::planLeaving(Client& client, std::size_t number) {
    client.limit = kAll;
    client.leavesThere = false;
    client.leavesAfter = kAll;
    const auto size = static_cast<std::uint32_t>(client.stream.out.size());
    const std::uint32_t kind = random_.below(1000);
    if (client.batch.back().plan.expects) {  // the 100 lets it go on
        client.limit = client.bodyAt;
    } else if (kind < 10) {  // within head or body
        client.limit = random_.below(size);
        client.leavesThere = true;
    } else if (kind < 20) {  // at some time, mostly while it waits
        later(number, random_.below(20));
        client.leavesThere = true;
    } else if (kind < 30) {  // within the answer
        client.leavesAfter = random_.between(1, 3000);
    } else if (kind < 50) {  // sends the rest later
        client.limit = random_.below(size);
        later(number, random_.below(10));
    } else if (kind < 60 && std::none_of(client.batch.begin(), client.batch.end(),
                                         [](const Pending& p) { return mayBeCut(p.plan); })) {
        client.reads = false;  // reads later, when the gateway may have filled the way; a reset would lose answers
        later(number, random_.below(20));
    }
}

void Clients::later(std::size_t number, std::uint32_t milliseconds) {
    timers_.add(std::chrono::milliseconds(milliseconds), clients_[number].serial << 16 | number);
}

void Clients::fire(std::uint64_t tag) {
    const std::size_t number = tag & 0xffff;
    Client& client = clients_[number];
    if (client.stream.fd < 0 || client.serial != tag >> 16) return;
    if (client.thinks) return begin(number);
    if (client.leavesThere) {
        leave(client);
        return begin(number);
    }
    client.limit = kAll;
    client.reads = true;
    ready(number);
}

void Clients::ready(std::size_t number) {
    Client& client = clients_[number];
    client.stream.push(client.limit);
    if (client.leavesThere && client.stream.sent == client.limit) {
        leave(client);
        return begin(number);
    }
    if (client.stream.flushed() && client.batch.back().plan.halfClose && !client.halfClosed) {
        client.halfClosed = true;
        ::shutdown(client.stream.fd, SHUT_WR);
    }
    if (!client.reads) return;
    client.came += client.stream.pull();
    if (client.came >= client.leavesAfter) {
        leave(client);
        return begin(number);
    }
    while (client.stream.fd >= 0 && readAnswer(client)) {
    }
    if (client.stream.fd < 0) return begin(number);  // something was wrong
    if (client.stream.ended || client.stream.broken) return connectionOver(number);
    const bool stays = !client.closes && !client.batch.back().plan.halfClose;
    if (client.answered == client.batch.size() && client.stream.flushed() && stays && !client.thinks)
        batchOver(number);
}

bool Clients::readAnswer(Client& client) {
    if ((client.closes && !client.head) || client.answered == client.batch.size()) {
        const std::string& in = client.stream.in;
        return !in.empty() && wrong(client, "bytes behind the answer: " + in.substr(0, 200));
    }
    if (!client.head && !beginAnswer(client)) return false;
    client.body.read(client.stream.in);
    if (!client.body.fault().empty()) return wrong(client, "answer: " + client.body.fault());
    return client.body.done() && answerOver(client);
}

bool Clients::beginAnswer(Client& client) {
    client.head = takeHead(client.stream.in);
    if (!client.head) return false;
    const Head& head = *client.head;
    const Pending& pending = client.batch[client.answered];
    const Plan& plan = pending.plan;
    if (head.text.starts_with("HTTP/1.1 1")) return interim(client, plan);
    if (!head.text.starts_with("HTTP/1.1 ") || !head.says("X-Request-Id", hex(plan.id)) ||
        head.count("X-Request-Id") != 1)
        return wrong(client, "not the answer of this request");
    const bool own = !head.field("X-Soak-Id");
    const int status = static_cast<int>(toNumber(std::string_view(head.text).substr(9, 3)));
    client.end = own ? (status == 502 ? End::Unavailable : status == 504 ? End::Late : End::Unmatched) : End::Planned;
    const bool bodyless = plan.method == Method::Head || status == 204 || status == 304;
    client.body = BodyReader(head, false, bodyless, plan.id, Direction::Answer);
    client.closes = head.says("Connection", "close");
    if (own ? status != 502 && status != 504 && status != 404 : status != plan.status)
        return wrong(client, "a status that was not asked for");
    const bool mayClose = plan.close || plan.halfClose || (own && plan.sent != Framing::None);
    if (client.closes ? !mayClose : plan.close) return wrong(client, "the connection is not to end so");
    if (client.body.framing() == Framing::UntilClose) return wrong(client, "a body without an end");
    if (own) client.body.collect();
    return (own || checkPlanned(client, pending)) && checkExtension(client, plan);
}

// 100 and 103 are no answers, but the 103 must be this request's.
bool Clients::interim(Client& client, const Plan& plan) {
    const Head& head = *client.head;
    const bool goOn = head.text.starts_with("HTTP/1.1 100 ") && plan.expects;
    const bool hint = head.text.starts_with("HTTP/1.1 103 ") && plan.hints && head.says("X-Hint", hex(plan.id));
    if (!goOn && !hint) return wrong(client, "an interim answer of another request");
    client.head.reset();
    ++(goOn ? tally_.continues : tally_.hints);
    if (goOn) {
        client.limit = kAll;
        client.stream.push();
    }
    return beginAnswer(client);
}

bool Clients::checkPlanned(Client& client, const Pending& pending) {
    const Head& head = *client.head;
    if (!head.says("X-Soak-Id", hex(pending.plan.id)) || head.count("X-Soak-Id") != 1)
        return wrong(client, "another upstream answer");
    // Both numbers are of one snapshot, and of one between sending and now.
    const std::uint64_t in = toNumber(head.field("X-Data-In"));
    const std::uint64_t out = toNumber(head.field("X-Data-Out"));
    if (head.count("X-Data-In") != 1 || head.count("X-Data-Out") != 1 || out < pending.dataAtLeast ||
        in > data_.begun || in < out || in > out + 1)
        return wrong(client, "data of another time than " + std::to_string(pending.dataAtLeast) + " to " +
                                 std::to_string(data_.begun));
    return true;
}

// The gateway's own answer says which error it is; its id stands in the head.
bool Clients::checkOwn(Client& client, const Plan& plan) {
    if (plan.method == Method::Head) return true;
    const std::string& body = client.body.text();
    const bool fits = client.end == End::Late          ? body.starts_with("{\"code\":-104,")
                      : client.end == End::Unavailable ? body.starts_with("{\"code\":-103,")
                                                       : body.starts_with("{\"code\":-107,") ||
                                                             body.starts_with("{\"code\":-102,");
    return fits || wrong(client, "an error of another kind: " + body);
}

// The mark of the extension's coroutine, "<generation> <id> <folded>", is of this request.
bool Clients::checkExtension(Client& client, const Plan& plan) {
    const auto mark = client.head->field("X-Extension");
    if (!mark) return true;
    const std::string digits = hex(plan.id);
    const bool folded = mark->ends_with(" folded");
    if (client.head->count("X-Extension") != 1 || mark->size() < 3 || mark->substr(2, 16) != digits ||
        (folded && !plan.fold))
        return wrong(client, "a mark of another request");
    ++tally_.extended;
    if (!folded) return true;
    ++tally_.folded;
    client.body.allowTail(plan.answerBytes, "|" + digits);
    return true;
}

bool Clients::answerOver(Client& client) {
    const Plan plan = client.batch[client.answered].plan;
    if (client.end == End::Planned && plan.hasAnswerBody()) {
        const bool folded = client.head->field("X-Extension").value_or("").ends_with(" folded");
        const std::size_t whole = plan.answerBytes + (folded ? 17 : 0);
        if (client.body.size() != whole)
            return wrong(client, "a body of " + std::to_string(client.body.size()) + " bytes, not " +
                                     std::to_string(whole));
    }
    if (client.end != End::Planned && !checkOwn(client, plan)) return false;
    client.head.reset();
    ++client.answered;
    count(client, plan, client.end);
    return client.stream.fd >= 0;
}

void Clients::batchOver(std::size_t number) {
    Client& client = clients_[number];
    if (random_.perMille(990)) return begin(number);
    client.thinks = true;  // the connection stays idle for a while
    client.since = Clock::now();
    later(number, random_.below(30));
}

// The gateway has closed or reset the connection.
void Clients::connectionOver(std::size_t number) {
    Client& client = clients_[number];
    const bool told = client.closes && !client.head;
    if (!told && client.answered < client.batch.size()) {
        const Plan plan = client.batch[client.answered++].plan;
        count(client, plan, End::Cut);
    } else if (!told && !client.batch.back().plan.halfClose) {
        wrong(client, "the connection ended behind an answer");
    }
    while (client.stream.fd >= 0 && client.answered < client.batch.size()) {
        ++client.answered;
        ++tally_.ends[static_cast<std::size_t>(End::Unanswered)];
    }
    if (client.stream.fd >= 0) leave(client);
    begin(number);
}

// Whatever it has not got, it does not want.
void Clients::leave(Client& client) {
    for (; client.answered < client.batch.size(); ++client.answered)
        ++tally_.ends[static_cast<std::size_t>(End::Aborted)];
    if (random_.perMille(500)) client.stream.reset();
    else client.stream.close();
    client.head.reset();
    client.closes = false;
    --open_;
}

void Clients::count(Client& client, const Plan& plan, End end) {
    ++tally_.ends[static_cast<std::size_t>(end)];
    if (!allowed(plan, end)) wrong(client, std::string("ended as ") + kEndNames[static_cast<std::size_t>(end)]);
}

bool Clients::wrong(Client& client, const std::string& what) {
    std::string plans;
    for (const Pending& each : client.batch) plans += " (" + each.plan.text() + ")";
    findings_.add(what + "; answer " + std::to_string(client.answered) + " of plans" + plans + ", head: " +
                  (client.head ? client.head->text : std::string("none")));
    client.answered = client.batch.size();
    client.stream.reset();
    client.head.reset();
    client.closes = false;
    --open_;
    return false;
}

void Clients::sweep() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        Client& client = clients_[i];
        if (client.stream.fd < 0 || Clock::now() - client.since < kPatience) continue;
        wrong(client, client.answered < client.batch.size() ? "no answer" : "no end behind the last answer");
        begin(i);
    }
}

}  // namespace weir::soak
