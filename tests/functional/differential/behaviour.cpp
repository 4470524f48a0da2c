#include "functional/differential/behaviour.hpp"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>

#include "functional/differential/transcript.hpp"

namespace weir::functional {

namespace {

constexpr char kNoAnswer[] = "no answer";
constexpr char kPart[] = "part of ";
constexpr char kCut[] = " cut off";

bool isOneOf(const std::string& name, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* each) { return strcasecmp(each, name.c_str()) == 0; });
}

std::string joined(const std::vector<std::string>& items) {
    std::string all;
    for (const auto& item : items) all += (all.empty() ? "" : "; ") + item;
    return all;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> items;
    while (!text.empty()) {
        const auto end = std::min(text.find("; "), text.size());
        items.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 2, text.size()));
    }
    return items;
}

bool startsWith(const std::string& text, std::string_view start) { return text.rfind(start, 0) == 0; }

bool endsWith(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Of an answer. After 101 comes something else, so it is as final as any.
bool isInterim(const std::string& item) {
    return item.front() == '1' && item.substr(0, 3) != "101" && (item.size() == 3 || item[3] == ' ');
}

// Framing is ordinary when there is one and it says what came.
bool isPlainFraming(const Reading& reading, const std::string& name, const std::string& value) {
    const auto& message = reading.message;
    if (message.count("Content-Length") + message.count("Transfer-Encoding") != 1) return false;
    if (isOneOf(name, {"Transfer-Encoding"})) return value == "chunked";
    return value == std::to_string(message.body.size()) || (!reading.whole && atol(value.c_str()) > 0);
}

bool isOrdinary(const Reading& reading, const std::string& name, const std::string& value) {
    if (isOneOf(name, {"Content-Length", "Transfer-Encoding"})) return isPlainFraming(reading, name, value);
    if (isOneOf(name, {"Connection"})) return isOneOf(value, {"close", "keep-alive"});
    if (isOneOf(name, {"X-Forwarded-For"})) return value == "127.0.0.1";
    if (isOneOf(name, {"X-Forwarded-Proto"})) return value == "http";
    if (isOneOf(name, {"Host"})) return value == "g";
    return isOneOf(name, {"Date", "Server", "Content-Type", "X-Request-Id", "Traceparent"});
}

std::string fieldsText(const Reading& reading, const std::string& upstreamAddress) {
    std::vector<std::string> fields;
    std::size_t repeated = 0;
    for (auto [name, value] : reading.message.fields) {
        if (isOneOf(name, {"Host"}) && value == upstreamAddress) continue;
        // Where Host names the upstream this is the host that the upstream is told.
        if (isOneOf(name, {"X-Forwarded-Host"})) name = "Host";
        if (isOrdinary(reading, name, value)) continue;
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
        addItem(fields, repeated, transcriptOf(name) + ": " + transcriptOf(value));
    }
    std::string all;
    for (const auto& field : fields) all += " {" + field + "}";
    return all;
}

std::string bodyText(const std::string& body) {
    return body.empty() || body == "ok" ? "" : " \"" + transcriptOf(body, 40) + "\"";
}

std::vector<std::string> namesIn(const std::vector<std::string>& items) {
    std::vector<std::string> names;
    for (const auto& item : items) {
        for (std::size_t at = 0; (at = item.find('{', at)) != item.npos; ++at) {
            names.push_back(item.substr(at + 1, item.find(": ", at) - at - 1));
        }
    }
    return names;
}

}  // namespace

void addItem(std::vector<std::string>& items, std::size_t& repeated, const std::string& item) {
    const auto counted = [&] { return repeated > 1 ? item + " x" + std::to_string(repeated) : item; };
    if (!items.empty() && items.back() == counted()) {
        ++repeated;
        items.back() = counted();
    } else {
        repeated = 1;
        items.push_back(item);
    }
}

std::string Behaviour::text() const {
    std::string all = answers.empty() ? kNoAnswer : joined(answers);
    all += kept ? ", kept" : ", closed";
    if (!forwarded.empty()) all += " -> " + joined(forwarded);
    return all;
}

Behaviour Behaviour::parse(std::string_view text) {
    Behaviour behaviour;
    const auto arrow = text.find(" -> ");
    auto left = text.substr(0, arrow);
    behaviour.kept = endsWith(left, ", kept");
    if (!behaviour.kept && !endsWith(left, ", closed")) throw std::runtime_error("no behaviour: " + std::string(text));
    left = left.substr(0, left.rfind(", "));
    if (left != kNoAnswer) behaviour.answers = split(left);
    if (arrow != text.npos) behaviour.forwarded = split(text.substr(arrow + 4));
    return behaviour;
}

std::size_t Behaviour::requestsServed() const {
    const auto whole = std::count_if(forwarded.begin(), forwarded.end(),
                                     [](const auto& item) { return !startsWith(item, kPart); });
    const auto successes = std::count_if(answers.begin(), answers.end(), [](const auto& item) {
        return item.front() == '2' && !endsWith(item, kCut);
    });
    return static_cast<std::size_t>(std::max(whole, successes));
}

std::size_t Behaviour::repliesPassed() const {
    return static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(), [](const auto& item) {
        return !isInterim(item) && item.front() != '5' && !endsWith(item, kCut);
    }));
}

bool Behaviour::isRefusal() const {
    return forwarded.empty() && std::all_of(answers.begin(), answers.end(), [](const auto& item) {
               return item.front() == '4' || item.front() == '5' || endsWith(item, kCut);
           });
}

std::vector<std::string> Behaviour::forwardedNames() const { return namesIn(forwarded); }

std::vector<std::string> Behaviour::answeredNames() const { return namesIn(answers); }

std::string answerText(const Reading& answer, bool old) {
    const auto& line = answer.message.startLine;
    if (answer.status == 0) return "no HTTP: " + transcriptOf(line);
    auto text = transcriptOf(line.substr(9, line.find(' ', 9) - 9));
    // Of a refusal the status is enough, and how much of a cut body came is chance.
    if (answer.status < 400 && answer.whole) {
        text += fieldsText(answer, "");
        if (old && answer.message.chunked) text += " in chunks";
        if (answer.untilClose) text += " until close";
        text += bodyText(answer.message.body);
    }
    return answer.whole ? text : text + kCut;
}

std::string forwardedText(const Reading& request, const std::string& upstreamAddress) {
    const auto& line = request.message.startLine;
    auto text = transcriptOf(line.substr(0, line.rfind(" HTTP/1.")));
    if (!request.whole) return kPart + text;
    return text + fieldsText(request, upstreamAddress) + bodyText(request.message.body);
}

}  // namespace weir::functional
