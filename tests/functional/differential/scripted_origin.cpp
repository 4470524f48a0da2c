#include "functional/differential/scripted_origin.hpp"

#include <stdexcept>

namespace weir::functional {

namespace {

bool isFor(const Reading& request, std::string_view target) {
    return request.message.startLine == "GET " + std::string(target) + " HTTP/1.1";
}

std::string plainReply(const Reading& request) {
    if (isFor(request, "/s1/end")) return support::RecordingUpstream::ok("end");
    const auto reply = support::RecordingUpstream::ok("ok");
    const bool head = request.message.startLine.rfind("HEAD ", 0) == 0;
    return head ? reply.substr(0, reply.size() - 2) : reply;
}

bool wantsContinue(const Reading& request) {
    return request.headWhole && !request.whole && request.message.field("Expect") == "100-continue";
}

}  // namespace

void ScriptedOrigin::answerWith(const std::optional<std::string>& reply, bool closes) {
    std::lock_guard lock(mutex_);
    reply_ = reply;
    closes_ = closes;
    received_.clear();
    parts_.clear();
}

std::vector<Reading> ScriptedOrigin::received() const {
    std::lock_guard lock(mutex_);
    auto all = received_;
    all.insert(all.end(), parts_.begin(), parts_.end());
    return all;
}

void ScriptedOrigin::closeAll() {
    std::unique_lock lock(mutex_);
    const auto allOver = [&] {
        for (auto* connection : open_) connection->shutdownWrite();
        return over_ == upstream_.connections();
    };
    if (changed_.wait_for(lock, support::kDeadline, allOver)) return;
    throw std::runtime_error("a proxy holds a connection that its upstream has closed");
}

void ScriptedOrigin::serve(Connection& connection) {
    {
        std::lock_guard lock(mutex_);
        open_.insert(&connection);
        changed_.notify_all();
    }
    read(connection);
    std::lock_guard lock(mutex_);
    open_.erase(&connection);
    ++over_;
    changed_.notify_all();
}

void ScriptedOrigin::read(Connection& connection) {
    std::string input;
    bool askedForBody = false;
    try {
        for (;;) {
            const auto bytes = connection.receiveSome(64 * 1024);
            if (bytes.empty()) break;
            input += bytes;
            while (!input.empty() && readRequest(input).whole) {
                askedForBody = false;
                if (!answer(connection, input)) return;
            }
            if (!askedForBody && wantsContinue(readRequest(input))) {
                askedForBody = true;
                if (!answerExpectation(connection)) break;
            }
        }
    } catch (const std::exception&) {  // reset by the proxy: what has come is still worth a note
    }
    if (input.empty()) return;
    std::lock_guard lock(mutex_);
    parts_.push_back(readRequest(input));
}

bool ScriptedOrigin::answer(Connection& connection, std::string& input) {
    const auto request = readRequest(input);
    input.erase(0, request.size);
    std::string reply;
    bool closes = false;
    {
        std::lock_guard lock(mutex_);
        const bool plain = isFor(request, "/s1/end") || isFor(request, "/s1/probe");
        if (!plain) received_.push_back(request);
        reply = plain || !reply_ ? plainReply(request) : *reply_;
        closes = !plain && closes_;
    }
    connection.send(reply);
    return !closes;
}

bool ScriptedOrigin::answerExpectation(Connection& connection) {
    std::optional<std::string> instead;
    {
        std::lock_guard lock(mutex_);
        instead = reply_;
    }
    connection.send(instead.value_or("HTTP/1.1 100 Continue\r\n\r\n"));
    return !instead;
}

}  // namespace weir::functional
