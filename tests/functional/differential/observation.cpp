#include "functional/differential/observation.hpp"

#include <stdexcept>
#include <system_error>

#include "support/wire_connection.hpp"

namespace weir::functional {

namespace {

using support::RawClient;

// All that came from the proxy. Sending may fail when it has closed already; what it said before is still there.
std::string converse(int port, const Input& input) {
    RawClient client(port);
    std::string came;
    try {
        for (std::size_t i = 0; i < input.request.size(); ++i) {
            const bool last = i + 1 == input.request.size();
            if (i > 0) came += client.receiveThrough("\r\n\r\n");
            client.send(input.request[i] + (last && !input.halfClose ? ScriptedOrigin::kTail : ""));
        }
        if (input.halfClose) client.shutdownWrite();
    } catch (const std::exception&) {
    }
    return came + client.receiveUntilClose();
}

void readAnswers(std::string_view bytes, const Input& input, Behaviour& behaviour) {
    const auto& request = input.request.front();
    const bool old = request.find(" HTTP/1.0\r\n") != request.npos;
    bool bodyless = request.rfind("HEAD ", 0) == 0;
    std::size_t repeated = 0;
    while (!bytes.empty()) {
        const auto answer = readResponse(bytes, bodyless);
        bytes.remove_prefix(answer.size);
        behaviour.kept = bytes.empty() && answer.whole && answer.message.body == "end";
        if (!behaviour.kept) addItem(behaviour.answers, repeated, answerText(answer, old));
        if (answer.status >= 200) bodyless = false;
    }
}

// Waits until nothing of an input is on its way any more: connections that the proxy began to open are seen by the time
// it has opened another one for the probe, which it must, as the others are closed.
void settle(int port, ScriptedOrigin& origin) {
    origin.closeAll();
    RawClient client(port);
    client.send(ScriptedOrigin::kProbe);
    const auto answer = client.receiveUntilClose();
    if (answer.rfind("HTTP/1.1 200", 0) != 0) throw std::runtime_error("a plain request is answered with: " + answer);
    origin.closeAll();
}

}  // namespace

Behaviour observe(int port, ScriptedOrigin& origin, const Input& input) {
    Behaviour behaviour;
    origin.answerWith(input.reply, input.replyCloses);
    readAnswers(converse(port, input), input, behaviour);
    settle(port, origin);
    std::size_t repeated = 0;
    for (const auto& request : origin.received()) {
        addItem(behaviour.forwarded, repeated, forwardedText(request, origin.address()));
    }
    // With a reply to look at, the plain request that fetched it is not worth a word.
    if (input.isReply() && behaviour.forwarded == std::vector<std::string>{"GET /s1/a"}) behaviour.forwarded.clear();
    return behaviour;
}

}  // namespace weir::functional
