#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "module/refusal.hpp"

namespace weir::module {

// Whether somebody who has no business here could change what `file` (in `directory`) has the gateway run; WritablePath
// or Unreadable then. Every symlink on the way is followed and every directory that is passed is looked at:
// - `directory`, `file` and the directory that the file really is in must not be world-writable,
// - a directory further up must not either, unless it has the sticky bit (as /tmp has),
// - the file, the directory it really is in, and a link in a world-writable directory, must belong to root, to `self`,
//   or to the owner of `directory`, who could put another in its place anyway.
// Groups may write: who makes a group for deployment means it. Nothing counts as writable on a file system that is
// mounted read-only, as volumes of Kubernetes are (their directories have mode 0777). Access lists (ACL) are not looked
// at beyond what they leave in the mode. Any thread.
std::optional<Refusal> checkPath(const std::filesystem::path& directory, const std::filesystem::path& file,
                                 uid_t self = ::geteuid());

// Which modules may run: all, when nothing is set; else those whose hash is listed or whose signature one of the keys
// verifies. Plain data.
struct TrustPolicy {
    struct Key {
        std::filesystem::path file;
        std::array<unsigned char, 32> bytes{};  // RFC 8032
    };

    std::set<std::string> sha256;  // lower-case hex
    std::vector<Key> keys;

    // From `extPlugin.trust`. The error names the digest that is none, or the file that is no PEM file of an Ed25519
    // public key.
    static base::Result<TrustPolicy> make(std::span<const std::string> sha256,
                                          std::span<const std::filesystem::path> keys);
    bool trustsAll() const { return sha256.empty() && keys.empty(); }
};

// "<file>.sig": the detached Ed25519 signature over the file's bytes, its 64 bytes as they are or in base64. When it
// comes or changes, a file that was refused may be good: look at it as at the file itself.
std::filesystem::path signatureOf(const std::filesystem::path& file);

// What is beside the file, as it is; nullopt: nothing that is a signature.
std::optional<std::string> signatureBeside(const std::filesystem::path& file);

// Whether the policy lets `bytes`, read from `file`, run; Untrusted says what was looked for. `sha256`: of `bytes`, in
// lower-case hex. `sent`: the signature that came with them in an upload; without one its file is read when the hash
// does not decide. Any thread.
std::optional<Refusal> checkTrust(const std::filesystem::path& file, std::string_view bytes, const std::string& sha256,
                                  const TrustPolicy& policy, const std::optional<std::string>& sent = std::nullopt);

}  // namespace weir::module
