#include "functional/differential/corpus.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "functional/differential/behaviour.hpp"
#include "functional/differential/transcript.hpp"

namespace weir::functional {

namespace {

constexpr std::array<const char*, 3> kRecordKeys{"weir: ", "nginx: ", "haproxy: "};
constexpr char kDefaultRequest[] = "GET /s1/a HTTP/1.1\r\nHost: g\r\n\r\n";

// Whether `line` begins with `start`, and then without it.
bool take(std::string& line, std::string_view start) {
    if (line.rfind(start, 0) != 0) return false;
    line.erase(0, start.size());
    return true;
}

bool takeRecorded(std::string& line, Input& input) {
    for (const auto proxy : {Weir, Nginx, Haproxy}) {
        if (take(line, kRecordKeys[proxy])) {
            input.recorded[proxy] = line;
            return true;
        }
    }
    return false;
}

// A line that belongs to an input; false when it is none.
bool takeInputLine(std::string line, Input& input) {
    if (takeRecorded(line, input)) return true;
    if (take(line, "why: ")) {
        input.why = line;
    } else if (take(line, "safe: ")) {
        input.safe = line;
    } else if (line == ">>") {
        input.request.emplace_back();
    } else if (line == ">fin") {
        input.halfClose = true;
    } else if (line == "<") {
        input.reply = "";
    } else if (line == "<close") {
        input.replyCloses = true;
    } else if (take(line, "> ")) {
        if (input.request.empty()) input.request.emplace_back();
        input.request.back() += bytesOf(line);
    } else if (take(line, "< ")) {
        input.reply = input.reply.value_or("") + bytesOf(line);
    } else {
        return false;
    }
    return true;
}

// The first of what is recorded.
Behaviour behaviourOf(const std::string& text) { return Behaviour::parse(text.substr(0, text.find(" or "))); }

Behaviour recordedOf(const Input& input, Proxy proxy) { return behaviourOf(input.recorded[proxy]); }

std::size_t taken(const Input& input, Proxy proxy) {
    const auto behaviour = recordedOf(input, proxy);
    return input.isReply() ? behaviour.repliesPassed() : behaviour.requestsServed();
}

// Of what is handed on, out of the client's or the upstream's bytes.
std::vector<std::string> namesPassed(const Input& input, Proxy proxy) {
    const auto behaviour = recordedOf(input, proxy);
    return input.isReply() ? behaviour.answeredNames() : behaviour.forwardedNames();
}

}  // namespace

Corpus loadCorpus(const std::filesystem::path& file) {
    Corpus corpus;
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read " + file.string());
    std::string section;
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (line.empty() || line[0] == '#') continue;
        if (take(line, "tested: ")) {
            corpus.tested = line;
        } else if (take(line, "== ")) {
            section = line;
        } else if (take(line, "= ")) {
            corpus.inputs.emplace_back();
            corpus.inputs.back().section = section;
            corpus.inputs.back().name = line;
        } else if (corpus.inputs.empty() || !takeInputLine(line, corpus.inputs.back())) {
            throw std::runtime_error("corpus line " + std::to_string(number) + ": " + line);
        }
    }
    for (auto& input : corpus.inputs) {
        if (input.request.empty()) input.request.emplace_back(kDefaultRequest);
    }
    return corpus;
}

void saveRecorded(const std::filesystem::path& file, const std::vector<Input>& inputs) {
    std::ifstream stream(file);
    std::string text;
    std::string pending;  // recorded lines, to go in front of why, safe or the empty line
    auto next = inputs.begin();
    for (std::string line; std::getline(stream, line);) {
        Input ignored;
        std::string copy = line;
        if (takeRecorded(copy, ignored)) continue;
        if (line.empty() || line.rfind("why: ", 0) == 0 || line.rfind("safe: ", 0) == 0) {
            text += std::exchange(pending, {});
        }
        if (line.rfind("= ", 0) == 0) {
            for (const auto proxy : {Weir, Nginx, Haproxy}) {
                pending += kRecordKeys[proxy] + next->recorded[proxy] + "\n";
            }
            ++next;
        }
        text += line + "\n";
    }
    stream.close();
    std::ofstream(file) << text << pending;
}

bool isAsRecorded(const Input& input, Proxy proxy, const std::string& seen) {
    const std::string all = " or " + input.recorded[proxy] + " or ";
    return all.find(" or " + seen + " or ") != all.npos;
}

bool agree(const Input& input) {
    const auto& all = input.recorded;
    if (all[Weir] == all[Nginx] && all[Weir] == all[Haproxy]) return true;
    return std::all_of(all.begin(), all.end(), [](const auto& text) { return behaviourOf(text).isRefusal(); });
}

std::vector<std::string> leniencies(const Input& input) {
    std::vector<std::string> all;
    const auto kept = [&](Proxy proxy) { return recordedOf(input, proxy).kept; };
    for (const auto proxy : {Nginx, Haproxy}) {
        const std::string name = kProxyNames[proxy];
        if (taken(input, Weir) > taken(input, proxy)) all.push_back("serves what " + name + " refuses");
        if (taken(input, proxy) == 0) continue;
        // What the upstream did wrong is no reason to part with the client.
        if (kept(Weir) && !kept(proxy) && !input.isReply()) all.push_back("goes on where " + name + " closes");
        const auto theirs = namesPassed(input, proxy);
        for (const auto& field : namesPassed(input, Weir)) {
            // Each sends a Host, ordinary or not.
            if (field != "host" && std::find(theirs.begin(), theirs.end(), field) == theirs.end()) {
                all.push_back("passes on the field " + field + ", which " + name + " keeps back");
            }
        }
    }
    return all;
}

}  // namespace weir::functional
