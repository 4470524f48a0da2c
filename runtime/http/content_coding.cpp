#include "http/content_coding.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "http/field_table.hpp"

namespace weir::http {

namespace {

// zlib's window sizes: with 32 added it takes gzip and zlib alike, negative it takes deflate without a wrapping.
constexpr int kWrapped = 15 + 32;
constexpr int kRaw = -15;

struct Inflater {
    z_stream stream{};
    bool good;
    explicit Inflater(int window) : good(inflateInit2(&stream, window) == Z_OK) {}
    Inflater(const Inflater&) = delete;
    ~Inflater() { if (good) inflateEnd(&stream); }
};

// All of one or more members (RFC 1952 2.2); nullopt: malformed, cut, or too long.
std::optional<std::string_view> inflateAll(base::Arena& arena, std::string_view body, std::size_t limit, int window) {
    if (body.size() > std::numeric_limits<uInt>::max() || limit > std::numeric_limits<uInt>::max()) return std::nullopt;
    Inflater inflater(window);
    if (!inflater.good) return std::nullopt;
    z_stream& stream = inflater.stream;
    std::size_t capacity = std::min(limit + 1, std::max<std::size_t>(body.size() * 4, 1024));
    auto* out = static_cast<char*>(arena.large(capacity));
    std::size_t size = 0;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    stream.avail_in = static_cast<uInt>(body.size());
    bool whole = false;
    for (;;) {
        stream.next_out = reinterpret_cast<Bytef*>(out + size);
        stream.avail_out = static_cast<uInt>(capacity - size);
        const int state = inflate(&stream, Z_NO_FLUSH);
        size = capacity - stream.avail_out;
        if (size > limit || (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)) break;
        if (state == Z_STREAM_END) {
            whole = stream.avail_in == 0;
            if (whole || window == kRaw || inflateReset(&stream) != Z_OK) break;
            continue;
        }
        if (stream.avail_out > 0) break;  // it wants more bytes than there are
        const std::size_t grown = std::min(limit + 1, capacity * 2);
        auto* larger = static_cast<char*>(arena.large(grown));
        std::copy_n(out, size, larger);
        arena.largeFree(out);
        out = larger;
        capacity = grown;
    }
    if (whole && size <= limit) return std::string_view(out, size);
    arena.largeFree(out);
    return std::nullopt;
}

bool isPlain(std::string_view coding) { return coding.empty() || equalsIgnoreCase(coding, "identity"); }
bool isGzip(std::string_view coding) { return equalsIgnoreCase(coding, "gzip") || equalsIgnoreCase(coding, "x-gzip"); }
bool isDeflate(std::string_view coding) { return equalsIgnoreCase(coding, "deflate"); }

}  // namespace

bool isKnownCoding(std::string_view coding) { return isPlain(coding) || isGzip(coding) || isDeflate(coding); }

std::optional<std::string_view> decodeContent(base::Arena& arena, std::string_view coding, std::string_view body,
                                              std::size_t limit) {
    if (isPlain(coding)) return body.size() <= limit ? std::optional(body) : std::nullopt;
    if (isGzip(coding)) return inflateAll(arena, body, limit, kWrapped);
    if (!isDeflate(coding)) return std::nullopt;
    const auto wrapped = inflateAll(arena, body, limit, kWrapped);  // as RFC 9110 8.4.1.2 has it
    return wrapped ? wrapped : inflateAll(arena, body, limit, kRaw);  // as some senders do
}

}  // namespace weir::http
