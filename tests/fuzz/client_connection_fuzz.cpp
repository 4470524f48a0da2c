// A whole connection: a client, the gateway's loop with the core plugins, and an upstream, turn by turn in one thread.
// Input: a line of steps, then what the client sends, then for each request that reaches the upstream its answer:
//
//     c2u
//     GET / HTTP/1.1
//     Host: g
//
//     === answer
//     HTTP/1.1 200 OK
//     ...
//
// Steps, each followed by one turn of the loop: digits say how many bytes the next pieces have (4 to the power of the
// digit), c sends one of the client's, u one of the upstream's, r lets the client read one; w: the client closes its
// sending side; f, x: the upstream ends or resets its newest connection; t: nothing. Upper-case letters are settings
// (see settingsOf and connectClient). What the steps leave is sent and read at the end.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "fuzz/fake_upstream.hpp"
#include "fuzz/gateway_chain.hpp"
#include "fuzz/message_reader.hpp"
#include "gateway/client_connection.hpp"

namespace {

using namespace weir;
using State = fuzz::ReadMessage::State;

struct Script {
    std::string_view steps;
    std::string_view client;
    std::vector<std::string_view> answers;
};

Script scriptOf(std::string_view text) {
    constexpr std::string_view kMark = "\n=== answer\n";
    Script script;
    const std::size_t line = text.find('\n');
    script.steps = text.substr(0, line);
    if (line == text.npos) return script;
    text.remove_prefix(line + 1);
    std::size_t end = text.find(kMark);
    script.client = text.substr(0, end);
    while (end != text.npos) {
        text.remove_prefix(end + kMark.size());
        end = text.find(kMark);
        script.answers.push_back(text.substr(0, end));
    }
    return script;
}

config::Settings settingsOf(std::string_view steps) {
    const auto has = [&](char letter) { return steps.find(letter) != steps.npos; };
    config::Settings settings;
    config::Settings::Server& server = settings.server;
    server.halfClose = !has('H');
    server.forwarded = has('F');
    server.trustRequestId = has('I');
    if (has('V')) server.via.text = "weir";
    if (has('L')) server.maxRequestBodyBytes = 64;
    if (has('O')) server.methods = {"GET", "POST"};
    if (has('P')) server.traceparent = config::Traceparent::Pass;
    if (has('M')) server.doubleSlashes = config::DoubleSlashes::Merge;
    if (has('D')) server.encodedSlashes = config::EncodedSlashes::Decode;
    if (has('K')) server.dotSegments = config::DotSegments::Keep;
    if (has('U')) settings.compat.errorStatus = config::ErrorStatus::Shenyu;
    return settings;
}

net::PeerAddress clientAddress() {
    sockaddr_storage storage{};
    auto& address = reinterpret_cast<sockaddr_in&>(storage);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0xc0000201);  // 192.0.2.1
    return net::PeerAddress(storage);
}

class Play {
public:
    Play(fuzz::GatewayChain& chain, fuzz::FakeUpstream& upstream, const Script& script)
        : upstream_(upstream),
          script_(script),
          loop_(0, 1, settingsOf(script.steps), chain.workers(), connections_, nullptr,
                [](std::shared_ptr<const chain::Snapshot>) {}),
          unsent_(script.client) {
        loop_.context.switchTo(chain.snapshot());
        upstream_.begin(script.answers);
        gateway::ClientConnection::open(loop_, connectClient(), clientAddress());
    }

    void run() {
        for (const char step : script_.steps.substr(0, kMaxSteps)) {
            this->step(step);
            turn(0);
        }
        settle();
        while (upstream_.closeAll()) settle();  // it has nothing more to say; that may bring the next request
        checkUpstream();
        checkClient();
        fuzz::resetSocket(client_);
        WEIR_ASSERT(turnsUntil([this] { return connections_ == 0; }));
        upstream_.end();
        WEIR_ASSERT(turnsUntil([this] {
            upstream_.end();
            return loop_.upstreams.counters().open == 0;
        }));
        turn(0);
        WEIR_ASSERT(loop_.running() == 0);
        WEIR_ASSERT(loop_.context.chunks.inUse() == 0);
        WEIR_ASSERT(loop_.context.buffers.inUse() == 0);
        WEIR_ASSERT(loop_.events.counters().sources == 0);
    }

private:
    static constexpr std::size_t kAll = 1 << 20;
    static constexpr std::size_t kMaxSteps = 256;
    static constexpr int kMaxTurns = 4096;  // for what an input of some KiB can ask for

    bool asked(char letter) const { return script_.steps.find(letter) != std::string_view::npos; }

    // The gateway's end. N: TCP, which tells a reset from an end; else a local pair, whose buffer (S) can be tiny.
    int connectClient() {
        constexpr int kType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
        if (asked('N')) {
            static const int listener = fuzz::listenOnLoopback();
            client_ = fuzz::connectTo(listener);
            const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            WEIR_ASSERT(fd >= 0);
            return fd;
        }
        int pair[2];
        WEIR_ASSERT(::socketpair(AF_UNIX, kType, 0, pair) == 0);
        client_ = pair[0];
        const int least = 1;
        if (asked('S')) ::setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
        return pair[1];
    }

    void step(char what) {
        if (what >= '0' && what <= '6') piece_ = std::size_t{1} << (2 * (what - '0'));
        else if (what == 'c') sendPiece(piece_);
        else if (what == 'u') upstream_.send(piece_);
        else if (what == 'r') readPiece(piece_);
        else if (what == 'w') ::shutdown(client_, SHUT_WR);
        else if (what == 'f') upstream_.closeNewest(false);
        else if (what == 'x') upstream_.closeNewest(true);
    }

    bool turn(int waitMs) {
        loop_.events.runOnce(net::Milliseconds(waitMs));
        return upstream_.receive();
    }

    // Sends and reads all there is, until nothing moves any more.
    void settle() {
        int turns = 0;
        for (int still = 0; still < 6; ++turns) {
            WEIR_ASSERT(turns < kMaxTurns);
            ++still;
            for (const bool moved : {sendPiece(kAll), upstream_.send(kAll), readPiece(kAll), turn(0)})
                if (moved) still = 0;
        }
    }

    bool turnsUntil(const std::function<bool()>& done) {
        for (int turns = 0; turns < kMaxTurns; ++turns) {
            if (done()) return true;
            turn(turns < 16 ? 0 : 1);
        }
        return false;
    }

    bool sendPiece(std::size_t size) {
        const ssize_t sent = unsent_.empty() ? 0 : ::send(client_, unsent_.data(), std::min(size, unsent_.size()),
                                                          MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) unsent_ = {};
        if (sent <= 0) return false;
        unsent_.remove_prefix(static_cast<std::size_t>(sent));
        return true;
    }

    bool readPiece(std::size_t size) {
        char bytes[4096];
        const ssize_t got = ended_ ? 0 : ::recv(client_, bytes, std::min(size, sizeof bytes), 0);
        if (got > 0) received_.append(bytes, static_cast<std::size_t>(got));
        if (ended_ || (got < 0 && errno == EAGAIN)) return false;
        ended_ = got <= 0;
        reset_ = got < 0;
        return true;
    }

    // What the client has said so far, as another reader understands it.
    std::vector<fuzz::ReadMessage> requestsSent(std::string_view& rest) const {
        std::vector<fuzz::ReadMessage> requests;
        rest = script_.client.substr(0, script_.client.size() - unsent_.size());
        while (!rest.empty()) {
            fuzz::ReadMessage request = fuzz::readMessage(rest, fuzz::MessageKind::Request);
            if (request.state != State::Whole) break;
            rest.remove_prefix(request.size);
            requests.push_back(std::move(request));
        }
        return requests;
    }

    // Each whole request that reached the upstream is one that the client has sent, in its order; one may come twice.
    void checkUpstream() const {
        std::string_view rest;
        const std::vector<fuzz::ReadMessage> sent = requestsSent(rest);
        std::size_t at = 0;
        for (const fuzz::FakeUpstream::Request& reached : upstream_.requests()) {
            while (at < sent.size() && (sent[at].method != reached.method || sent[at].body != reached.body)) ++at;
            WEIR_ASSERT(at < sent.size());
        }
    }

    // Well-formed responses, at most one for each request; one for what is no request ends the connection.
    void checkClient() {
        std::string_view rest;
        const std::vector<fuzz::ReadMessage> sent = requestsSent(rest);
        const std::size_t most = sent.size() + (rest.empty() ? 0 : 1);
        std::string_view left = received_;
        for (std::size_t answered = 0; !left.empty();) {
            const bool toHead = answered < sent.size() ? sent[answered].method == "HEAD" : rest.starts_with("HEAD ");
            const auto response = fuzz::readMessage(
                left, toHead ? fuzz::MessageKind::ResponseToHead : fuzz::MessageKind::Response);
            if (response.state == State::Malformed) std::fprintf(stderr, "%s\n", response.fault);
            WEIR_ASSERT(response.state != State::Malformed);
            answered += response.status >= 200 ? 1 : 0;
            WEIR_ASSERT(answered <= most);
            if (response.state != State::Whole) {  // cut
                WEIR_ASSERT(turnsUntil([this] { return readPiece(kAll), ended_; }));
                if (response.state == State::UntilClose && asked('N') && !reset_) checkWhole(response.body);
                return;
            }
            left.remove_prefix(response.size);
            if (response.status == 101) return;  // the rest is no HTTP
            if (response.value("Connection") != "close") continue;
            // The method of a head that was refused unread is not known: it may have been HEAD.
            WEIR_ASSERT(left.empty() || (toHead && std::to_string(left.size()) == response.value("Content-Length")));
            return;
        }
    }

    // A body that ended as it should, without a length, is one that the upstream ended so too.
    void checkWhole(const std::string& body) const {
        const auto saysSo = [&](std::string_view answer) {
            fuzz::ReadMessage message = fuzz::readMessage(answer, fuzz::MessageKind::Response);
            while (message.state == State::Whole && message.status < 200) {
                answer.remove_prefix(message.size);
                message = fuzz::readMessage(answer, fuzz::MessageKind::Response);
            }
            return (message.state == State::Whole && message.body == body) ||
                   (message.state == State::UntilClose && message.body.starts_with(body));
        };
        WEIR_ASSERT(std::any_of(script_.answers.begin(), script_.answers.end(), saysSo));
    }

    fuzz::FakeUpstream& upstream_;
    const Script& script_;
    std::atomic<std::uint32_t> connections_{0};
    gateway::GatewayLoop loop_;
    int client_ = -1;
    std::string_view unsent_;
    std::string received_;
    bool ended_ = false;
    bool reset_ = false;
    std::size_t piece_ = 64;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::FakeUpstream upstream;
    static fuzz::GatewayChain chain(upstream.port());
    static const bool quiet = (base::setLogSink([](weir_log_level, std::string_view) {}), true);
    (void)quiet;
    const Script script = scriptOf({reinterpret_cast<const char*>(data), size});
    Play(chain, upstream, script).run();
    return 0;
}
