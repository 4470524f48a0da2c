#include "base/digest.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"
#include "base/hex.hpp"

namespace weir::base {

namespace {

std::string hexDigest(std::string_view bytes, const EVP_MD* algorithm) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    const int done = EVP_Digest(bytes.data(), bytes.size(), digest, &size, algorithm, nullptr);
    WEIR_ASSERT(done == 1);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) text += hexOf(digest[i]);
    return text;
}

}  // namespace

std::string sha256Hex(std::string_view bytes) { return hexDigest(bytes, EVP_sha256()); }
std::string sha512Hex(std::string_view bytes) { return hexDigest(bytes, EVP_sha512()); }

}  // namespace weir::base
