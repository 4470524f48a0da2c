#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "module/refusal.hpp"

namespace weir::module {

constexpr std::size_t kMaxUploadBytes = 16ul * 1024 * 1024;

// What is wrong with a base64 text, and where, counted from 1.
struct Base64Fault {
    std::size_t position;
    std::string problem;  // "'!' is not of the alphabet"
};
// RFC 4648, section 4, with its padding; spaces, tabs and line breaks (MIME) are skipped. Any thread.
base::Result<std::string, Base64Fault> decodeBase64(std::string_view text);

// The bytes of an uploaded module: the field `pluginJar` of plugin data. Whether they are a module is for the checks
// that every file passes. What has more than `limit` bytes is refused before it is decoded. Any thread.
base::Result<std::string, Refusal> decodeModule(std::string_view base64, std::size_t limit = kMaxUploadBytes);

// The Ed25519 signature over these bytes, 64 bytes in base64: Weir's own field `pluginJarSignature` beside the other.
// Whose it is is for checkTrust(). Any thread.
inline constexpr std::size_t kSignatureBytes = 64;
inline constexpr std::string_view kSignatureField = "pluginJarSignature";
inline constexpr std::string_view kSignRemedy =
    "sign it: openssl pkeyutl -sign -rawin -inkey KEY -in FILE | base64 -w0";
base::Result<std::string, Refusal> decodeSignature(std::string_view base64);

}  // namespace weir::module
