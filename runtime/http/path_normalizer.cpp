#include "http/path_normalizer.hpp"

#include <cstring>

#include "base/ascii.hpp"
#include "base/byte_words.hpp"

namespace weir::http {

namespace {

// The byte that "%2e", "%2f" or "%5c" at `at` stands for; 0: none of them.
char special(std::string_view path, std::size_t at) {
    if (path.size() - at < 3 || path[at] != '%') return 0;
    const char last = base::toLower(path[at + 2]);
    if (path[at + 1] == '2' && last == 'e') return '.';
    if (path[at + 1] == '2' && last == 'f') return '/';
    if (path[at + 1] == '5' && last == 'c') return '\\';
    return 0;
}

// Whether a segment, as it stands behind its slash, is "." (1) or ".." (2); else 0.
int dots(std::string_view segment) {
    int count = 0;
    for (std::size_t at = 0; at < segment.size(); ++count) {
        if (count == 2) return 0;
        if (segment[at] == '.') ++at;
        else if (special(segment, at) == '.') at += 3;
        else return 0;
    }
    return count;
}

// Whether anything in the path, which is not empty, could be other than it should be: the one look that every request
// pays.
bool suspicious(std::string_view path) {
    constexpr auto isMark = [](auto c, auto next) {
        return ((c == '/') & ((next == '/') | (next == '.'))) | (c == '%');
    };
    const char* const last = &path.back();
    for (const char* at = path.data(); (at = base::findPair(at, last, isMark)) != last; ++at)
        if (*at == '/' || special(path, static_cast<std::size_t>(at - path.data()))) return true;
    return false;
}

class Normalizer {
public:
    Normalizer(const PathPolicy& policy, char* out) : policy_(policy), begin_(out), end_(out) {}

    ParseError add(std::string_view segment, bool last) {
        const int count = dots(segment);
        if (count && policy_.dots == PathPolicy::Dots::Reject) return {400, "dot segment in the path"};
        if (count && policy_.dots == PathPolicy::Dots::Resolve) {
            if (count == 2) {
                if (end_ == begin_) return {400, "the path leads above its root"};
                while (*--end_ != '/') {
                }
            }
            if (last) *end_++ = '/';
            return {};
        }
        if (segment.empty() && !last) {
            if (policy_.slashes == PathPolicy::Slashes::Reject) return {400, "empty segment in the path"};
            if (policy_.slashes == PathPolicy::Slashes::Merge) return {};
        }
        *end_++ = '/';
        std::memcpy(end_, segment.data(), segment.size());
        end_ += segment.size();
        return {};
    }
    std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }

private:
    const PathPolicy& policy_;
    char* const begin_;
    char* end_;
};

// "%2f" and "%5c" as bytes; the path's new size.
std::size_t decode(std::string_view path, char* out) {
    char* end = out;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char c = special(path, i);
        if (c == '/' || c == '\\') {
            *end++ = c;
            i += 2;
        } else {
            *end++ = path[i];
        }
    }
    return static_cast<std::size_t>(end - out);
}

bool hasEncodedSlash(std::string_view path) {
    for (std::size_t i = path.find('%'); i != std::string_view::npos; i = path.find('%', i + 1))
        if (const char c = special(path, i); c == '/' || c == '\\') return true;
    return false;
}

}  // namespace

ParseError normalizePath(RequestHead& head, base::Arena& arena, const PathPolicy& policy) {
    std::string_view path = head.path;
    if (!path.starts_with('/') || !suspicious(path)) return {};
    if (policy.encoded != PathPolicy::Encoded::Keep && hasEncodedSlash(path)) {
        if (policy.encoded == PathPolicy::Encoded::Reject) return {400, "encoded slash in the path"};
        char* decoded = arena.allocateArray<char>(path.size());
        path = {decoded, decode(path, decoded)};
    }
    const std::size_t queryBytes = head.query.data() ? head.query.size() + 1 : 0;
    char* out = arena.allocateArray<char>(path.size() + 1 + queryBytes);
    Normalizer normal(policy, out);
    for (std::size_t at = 1;;) {
        const std::size_t slash = path.find('/', at);
        const bool last = slash == std::string_view::npos;
        if (const ParseError error = normal.add(path.substr(at, last ? slash : slash - at), last)) return error;
        if (last) break;
        at = slash + 1;
    }
    head.path = {out, normal.size()};
    head.target = head.path;
    if (!head.query.data()) return {};
    out[head.path.size()] = '?';
    std::memcpy(out + head.path.size() + 1, head.query.data(), head.query.size());
    head.target = {out, head.path.size() + queryBytes};
    head.query = {out + head.path.size() + 1, head.query.size()};
    return {};
}

}  // namespace weir::http
