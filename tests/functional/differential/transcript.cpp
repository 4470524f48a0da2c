#include "functional/differential/transcript.hpp"

#include <stdexcept>

namespace weir::functional {

namespace {

// One escape, without its backslash, from the front of `rest`.
std::string takeEscape(std::string_view& rest) {
    const char kind = rest.empty() ? ' ' : rest.front();
    std::size_t length = 1;
    std::string bytes;
    switch (kind) {
        case 'r': bytes = '\r'; break;
        case 'n': bytes = '\n'; break;
        case 't': bytes = '\t'; break;
        case '0': bytes.assign(1, '\0'); break;
        case '\\': bytes = '\\'; break;
        case 'x':
            length = 3;
            bytes.assign(1, static_cast<char>(std::stoi(std::string(rest.substr(1, 2)), nullptr, 16)));
            break;
        case '{': {
            length = rest.find('}') + 1;
            const auto star = rest.find('*');
            if (length == 0 || star == rest.npos) throw std::runtime_error("no \\{N*TEXT}: " + std::string(rest));
            const auto text = bytesOf(rest.substr(star + 1, length - star - 2));
            for (int times = std::stoi(std::string(rest.substr(1, star - 1))); times > 0; --times) bytes += text;
            break;
        }
        default: throw std::runtime_error("no escape: \\" + std::string(rest));
    }
    rest.remove_prefix(length);
    return bytes;
}

}  // namespace

std::string bytesOf(std::string_view transcript) {
    std::string bytes;
    while (!transcript.empty()) {
        const char c = transcript.front();
        transcript.remove_prefix(1);
        if (c == '\\') {
            bytes += takeEscape(transcript);
        } else {
            bytes += c;
        }
    }
    return bytes;
}

std::string transcriptOf(std::string_view bytes, std::size_t limit) {
    static constexpr char kHex[] = "0123456789abcdef";
    if (bytes.size() > limit) return "(" + std::to_string(bytes.size()) + " bytes)";
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\r') {
            text += "\\r";
        } else if (c == '\n') {
            text += "\\n";
        } else if (byte < 0x20 || byte > 0x7e || std::string_view(";{}\\").find(c) != std::string_view::npos ||
                   (c == '>' && !text.empty() && text.back() == '-')) {
            text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
        } else {
            text += c;
        }
    }
    return text;
}

}  // namespace weir::functional
