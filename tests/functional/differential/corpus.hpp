#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weir::functional {

enum Proxy : std::size_t { Weir, Nginx, Haproxy };
inline constexpr std::array<const char*, 3> kProxyNames{"Weir", "nginx", "HAProxy"};

// One input and what is recorded for it. The head of corpus.txt says how it is written.
struct Input {
    std::string section;
    std::string name;
    std::vector<std::string> request;  // bytes; each piece but the first waits for an answer's head
    bool halfClose = false;            // the client closes its sending side instead of sending another request
    std::optional<std::string> reply;  // of the upstream; none: 200 with the body "ok"
    bool replyCloses = false;          // and the upstream then closes
    // Behaviour::text() for each proxy. Where timing decides, nginx and HAProxy may have several, with " or " between
    // them; the first then counts.
    std::array<std::string, 3> recorded;
    std::string why;                   // of a disagreement
    std::string safe;                  // why it is harmless that Weir is the lenient one

    bool isReply() const { return reply.has_value(); }
};

struct Corpus {
    std::string tested;  // versions of nginx and HAProxy
    std::vector<Input> inputs;
};

// Throws std::runtime_error with the line for what cannot be read.
Corpus loadCorpus(const std::filesystem::path& file);

// Writes what is recorded for nginx and HAProxy, and for Weir where nothing was, into the file; all else stays.
void saveRecorded(const std::filesystem::path& file, const std::vector<Input>& inputs);

// Whether `seen` is what is recorded for the proxy.
bool isAsRecorded(const Input& input, Proxy proxy, const std::string& seen);
// Whether all three do the same, or all three refuse in their own way.
bool agree(const Input& input);
// In what Weir is more lenient than one of the others; empty when in nothing.
std::vector<std::string> leniencies(const Input& input);

}  // namespace weir::functional
