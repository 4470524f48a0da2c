#include "module/upload.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/hex.hpp"

namespace weir::module {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> valuesOfCharacters() {
    std::array<std::uint8_t, 256> values{};
    values.fill(kNone);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i)
        values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
    return values;
}
constexpr std::array<std::uint8_t, 256> kValues = valuesOfCharacters();

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string nameOf(char c) {
    if (c > ' ' && c <= '~') return std::string("'") + c + "'";
    return std::string("the byte 0x").append(base::hexOf(static_cast<unsigned char>(c)));
}

std::string textOf(const Base64Fault& fault) {
    return "broken base64 at character " + std::to_string(fault.position) + ": " + fault.problem;
}

Refusal refuse(RefusalCode code, std::string found, std::string wanted, std::string remedy) {
    return {code, "pluginJar", std::move(found), std::move(wanted), std::move(remedy)};
}

}  // namespace

base::Result<std::string, Base64Fault> decodeBase64(std::string_view text) {
    std::string out;
    out.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    unsigned digits = 0;   // of the group of four that is being read
    unsigned padding = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isSpace(c)) continue;
        if (c == '=') {
            if (digits < 2 || digits + padding == 4) return Base64Fault{i + 1, "'=' is not expected here"};
            ++padding;
            continue;
        }
        const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
        if (value == kNone) return Base64Fault{i + 1, nameOf(c) + " is not of the alphabet"};
        if (padding > 0) return Base64Fault{i + 1, nameOf(c) + " follows the padding"};
        bits = bits << 6 | value;
        if (++digits < 4) continue;
        for (const int shift : {16, 8, 0}) out += static_cast<char>(bits >> shift & 255);
        bits = 0;
        digits = 0;
    }
    if (digits == 0) return out;
    if (digits + padding != 4) return Base64Fault{text.size() + 1, "it ends within a group of four"};
    const unsigned rest = digits == 2 ? 4 : 2;  // bits that belong to no byte: zero in what an encoder writes
    if ((bits & ((1u << rest) - 1)) != 0) return Base64Fault{text.size(), "its last character has bits left over"};
    bits >>= rest;
    if (digits == 3) out += static_cast<char>(bits >> 8 & 255);
    out += static_cast<char>(bits & 255);
    return out;
}

base::Result<std::string, Refusal> decodeModule(std::string_view base64, std::size_t limit) {
    const auto digits = static_cast<std::size_t>(
        std::ranges::count_if(base64, [](char c) { return !isSpace(c) && c != '='; }));
    constexpr const char* format = "a module file in base64 (RFC 4648)";
    if (digits == 0) return refuse(RefusalCode::Unreadable, "empty", format, "send the bytes of the .so file");
    const std::size_t size = digits / 4 * 3 + digits % 4 * 3 / 4;
    if (size > limit) {
        return refuse(RefusalCode::TooLarge, "a module of " + std::to_string(size) + " bytes",
                      "at most " + std::to_string(limit) + " bytes",
                      "strip it, or copy the file into extPlugin.path");
    }
    auto bytes = decodeBase64(base64);
    if (bytes) return std::move(bytes).value();
    return refuse(RefusalCode::Unreadable, textOf(bytes.error()), format, "encode it with base64 -w0 FILE");
}

base::Result<std::string, Refusal> decodeSignature(std::string_view base64) {
    const auto bad = [](std::string found) {
        return Refusal{RefusalCode::Unreadable, std::string(kSignatureField), std::move(found),
                       "the 64 bytes of an Ed25519 signature in base64 (RFC 4648)", std::string(kSignRemedy)};
    };
    auto bytes = decodeBase64(base64);
    if (!bytes) return bad(textOf(bytes.error()));
    if (bytes->size() != kSignatureBytes) return bad(std::to_string(bytes->size()) + " bytes long");
    return std::move(bytes).value();
}

}  // namespace weir::module
