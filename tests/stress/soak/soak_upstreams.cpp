#include "stress/soak/soak_upstreams.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "support/eventually.hpp"

namespace weir::soak {

namespace {

// Tags below are listeners and fates, by server.
constexpr std::uint64_t kFates = 0;
constexpr std::uint64_t kListeners = 100;
constexpr std::uint64_t kFirstConnection = 1ULL << 32;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kSurplus = "HTTP/1.1 200 Surplus\r\nContent-Length: 7\r\n\r\nsurplus";

// One of several that share a port; 0: the system chooses.
int boundSocket(int port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    const sockaddr_in address = loopback(port);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw std::system_error(errno, std::generic_category(), "bind");
    return fd;
}

int portOf(int fd) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

}  // namespace

Upstreams::Upstreams(std::uint64_t seed, Findings& findings)
    : findings_(findings), random_(seed), epoll_(::epoll_create1(EPOLL_CLOEXEC)), servers_(kServers) {
    for (Server& server : servers_) {
        server.holder = boundSocket(0);
        server.port = portOf(server.holder);
        listen(server);
    }
    for (const int each : kDying) timers_.add(std::chrono::milliseconds(100), kFates + static_cast<unsigned>(each));
    thread_ = std::thread([this] {
        try {
            run();
        } catch (const std::exception& error) {
            findings_.add(std::string("the upstreams cannot go on: ") + error.what());
        }
    });
}

Upstreams::~Upstreams() {
    stopping_ = true;
    thread_.join();
    for (int i = 0; i < kServers; ++i) endAll(i);
    for (const Server& server : servers_) {
        ::close(server.holder);
        if (server.listener >= 0) ::close(server.listener);
    }
    ::close(epoll_);
}

std::string Upstreams::address(int server) const {
    return "127.0.0.1:" + std::to_string(servers_[static_cast<std::size_t>(server)].port);
}

void Upstreams::rest() {
    rests_ = false;
    resting_ = true;
    if (!support::eventually([this] { return rests_.load(); })) throw std::runtime_error("the upstreams do not rest");
}

void Upstreams::run() {
    std::array<epoll_event, 256> events;
    while (!stopping_) {
        const int n = ::epoll_wait(epoll_, events.data(), events.size(), timers_.waitMs(10));
        for (int i = 0; i < n; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            if (event.data.u64 < kFirstConnection) {
                accept(static_cast<int>(event.data.u64 - kListeners));
            } else if (Connection* connection = find(event.data.u64)) {
                connection->stream.noted(event.events);
                ready(*connection);
            }
        }
        timers_.run([this](std::uint64_t tag) { fire(tag); });
        if (!resting_) continue;
        for (int i = 0; i < kServers; ++i) endAll(i);
        rests_ = std::all_of(servers_.begin(), servers_.end(), [](const Server& s) { return s.fate == Fate::Up; });
    }
}

void Upstreams::changeFate(int number) {
    Server& server = servers_[static_cast<std::size_t>(number)];
    const Fate before = server.fate;
    const std::uint32_t kind = resting_ ? 0 : random_.below(100);
    server.fate = kind < 55 ? Fate::Up : kind < 75 ? Fate::Gone : kind < 85 ? Fate::Deaf : Fate::Dropping;
    if (before == Fate::Gone && server.fate != Fate::Gone) listen(server);
    if (before != Fate::Gone && server.fate == Fate::Gone) {
        ::close(server.listener);
        server.listener = -1;
        endAll(number);
        ++deaths_;
    }
    if (before == Fate::Deaf) endAll(number);
    timers_.add(std::chrono::milliseconds(random_.between(20, 300)), kFates + static_cast<unsigned>(number));
}

void Upstreams::listen(Server& server) {
    server.listener = boundSocket(server.port);
    if (::listen(server.listener, 1024) != 0) throw std::system_error(errno, std::generic_category(), "listen");
    const auto number = static_cast<std::uint64_t>(&server - servers_.data());
    watch(epoll_, server.listener, kListeners + number);
}

void Upstreams::accept(int number) {
    const int listener = servers_[static_cast<std::size_t>(number)].listener;
    for (;;) {
        const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == ECONNABORTED || errno == EINTR) continue;
            if (errno != EAGAIN && errno != EBADF)
                findings_.add("an upstream can not accept: " + std::generic_category().message(errno));
            return;
        }
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const auto slot = static_cast<std::size_t>(fd);
        if (connections_.size() <= slot) connections_.resize(slot + 1);
        connections_[slot] = std::make_unique<Connection>();
        Connection& connection = *connections_[slot];
        connection.stream.fd = fd;
        connection.tag = ++made_ << 32 | slot;
        connection.server = number;
        watch(epoll_, fd, connection.tag);
    }
}

void Upstreams::ready(Connection& connection) {
    const std::uint64_t tag = connection.tag;
    connection.stream.pull();
    readRequest(connection);
    if (!find(tag)) return;
    if (connection.stream.ended || connection.stream.broken) return end(connection, false);
    if (connection.answering) write(connection);
}

void Upstreams::readRequest(Connection& connection) {
    std::string& in = connection.stream.in;
    if (connection.answering) {
        if (!in.empty()) wrong(connection, "bytes behind the request: " + in.substr(0, 100));
        return;
    }
    if (!connection.head && !beginRequest(connection)) return;
    connection.body.read(in);
    if (!connection.body.fault().empty()) return wrong(connection, "request: " + connection.body.fault());
    if (connection.body.done()) requestOver(connection);
}

bool Upstreams::beginRequest(Connection& connection) {
    connection.head = takeHead(connection.stream.in);
    if (!connection.head) return false;
    const Head& head = *connection.head;
    const std::string_view line = std::string_view(head.text).substr(0, head.text.find("\r\n"));
    const auto plan = Plan::parse(head.field("X-Plan").value_or(""));
    if (!plan) {
        wrong(connection, "a request without a plan: " + head.text);
        return false;
    }
    connection.plan = *plan;
    const std::string digits = hex(plan->id);
    const std::string method = kMethodNames[static_cast<std::size_t>(plan->method)];
    const std::string end = "/" + digits + " HTTP/1.1";
    if (!line.starts_with(method + " /") || !line.ends_with(end) || !head.says("X-Request-Id", digits) ||
        head.count("X-Request-Id") != 1 || head.count("X-Plan") != 1) {
        wrong(connection, "a request of two: " + head.text);
        return false;
    }
    connection.body = BodyReader(head, true, false, plan->id, Direction::Request);
    const Framing framing = connection.body.framing();  // a chunked body that is all there may get a length
    if (framing != plan->sent && !(plan->sent == Framing::Chunked && framing == Framing::Length)) {
        wrong(connection, "another framing: " + head.text);
        return false;
    }
    // Too short not to go at once.
    if (head.says("Expect", "100-continue"))
        ::send(connection.stream.fd, kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
    return true;
}

void Upstreams::requestOver(Connection& connection) {
    if (connection.body.size() != connection.plan.sentBytes)
        return wrong(connection, "a body of " + std::to_string(connection.body.size()) + " bytes");
    connection.answering = true;
    if (!connection.stream.in.empty()) return wrong(connection, "bytes behind the request");
    const Fate fate = servers_[static_cast<std::size_t>(connection.server)].fate;
    if (fate == Fate::Deaf || connection.plan.fault == Fault::Hang) return;
    if (fate == Fate::Dropping) return end(connection, random_.perMille(500));
    if (connection.plan.pauseMs == 0) return answer(connection);
    timers_.add(std::chrono::milliseconds(connection.plan.pauseMs), connection.tag);
}

void Upstreams::answer(Connection& connection) {
    const Plan& plan = connection.plan;
    std::string& out = connection.stream.out;
    const Head& head = *connection.head;
    if (plan.hints) out = "HTTP/1.1 103 Early Hints\r\nX-Hint: " + hex(plan.id) + "\r\n\r\n";
    const std::size_t begin = out.size();
    out += "HTTP/1.1 " + std::to_string(plan.status) + " Planned\r\nX-Soak-Id: " + hex(plan.id) +
          "\r\nX-Data-In: " + std::string(head.field("X-Data-In").value_or("none")) + "\r\n";
    if (!plan.hasAnswerBody()) {
        if (plan.method == Method::Head && plan.answered == Framing::Length)
            out += "Content-Length: " + std::to_string(plan.answerBytes) + "\r\n";
        out += "\r\n";
    } else {
        if (plan.answered == Framing::UntilClose) {
            connection.after = Connection::After::Close;
        } else if (random_.perMille(20)) {
            out += "Connection: close\r\n";
            connection.after = Connection::After::Close;
        }
        appendFramed(out, plan.answered, plan.id, Direction::Answer, plan.answerBytes);
    }
    fail(connection, out.find("\r\n\r\n", begin) + 4);
    // The rest of some comes later: in the middle of the head, of the body, between both. Not a surplus: the connection
    // may be somebody else's by then.
    const bool whole = plan.fault == Fault::Surplus || connection.after != Connection::After::Stay;
    if (!whole && random_.perMille(20)) {
        connection.limit = random_.below(static_cast<std::uint32_t>(out.size()));
        timers_.add(std::chrono::milliseconds(random_.below(10)), connection.tag);
    }
    write(connection);
}

void Upstreams::fail(Connection& connection, std::size_t headSize) {
    std::string& out = connection.stream.out;
    const auto bodySize = static_cast<std::uint32_t>(out.size() - headSize);
    switch (connection.plan.fault) {
        case Fault::None:
        case Fault::Hang: return;
        case Fault::Reset: out.clear(); break;
        case Fault::Garbage: out = "SMTP ready\r\n\r\n"; break;
        case Fault::CutHead: out.resize(random_.below(static_cast<std::uint32_t>(headSize))); break;
        case Fault::Surplus: out += kSurplus; return;
        case Fault::CutBody:
        case Fault::ResetBody: out.resize(headSize + random_.below(bodySize)); break;
    }
    const bool reset = connection.plan.fault == Fault::Reset || connection.plan.fault == Fault::ResetBody;
    connection.after = reset ? Connection::After::Reset : Connection::After::Close;
}

void Upstreams::write(Connection& connection) {
    connection.stream.push(connection.limit);
    if (!connection.stream.flushed() || (connection.stream.out.empty() && connection.after == Connection::After::Stay))
        return;
    if (connection.after != Connection::After::Stay)
        return end(connection, connection.after == Connection::After::Reset);
    connection.stream.out.clear();
    connection.stream.sent = 0;
    connection.head.reset();
    connection.answering = false;
}

void Upstreams::fire(std::uint64_t tag) {
    if (tag < kFirstConnection) return changeFate(static_cast<int>(tag - kFates));
    Connection* connection = find(tag);
    if (!connection || !connection->answering) return;
    connection->limit = static_cast<std::size_t>(-1);
    if (connection->stream.out.empty()) answer(*connection);
    else write(*connection);
}

void Upstreams::end(Connection& connection, bool reset) {
    const auto slot = static_cast<std::size_t>(connection.stream.fd);
    if (reset) connection.stream.reset();
    else connection.stream.close();
    connections_[slot].reset();
}

void Upstreams::endAll(int server) {
    for (auto& each : connections_) {
        if (each && each->server == server) end(*each, true);
    }
}

void Upstreams::wrong(Connection& connection, const std::string& what) {
    findings_.add("upstream " + std::to_string(connection.server) + ", plan " + connection.plan.text() + ": " + what);
    end(connection, true);
}

Upstreams::Connection* Upstreams::find(std::uint64_t tag) {
    const auto slot = static_cast<std::size_t>(tag & 0xffffffff);
    if (slot >= connections_.size() || !connections_[slot] || connections_[slot]->tag != tag) return nullptr;
    return connections_[slot].get();
}

}  // namespace weir::soak
