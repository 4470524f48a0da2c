#include "module/module_trust.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "base/ascii.hpp"
#include "module/upload.hpp"

namespace weir::module {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSignatureFile = 1024;
constexpr int kMaxLinks = 40;  // as the kernel's

Refusal unreadable(const fs::path& path, int number) {
    return {RefusalCode::Unreadable, "", path.string() + ": " + std::strerror(number), "", ""};
}

Refusal writable(std::string found, std::string wanted, std::string remedy) {
    return {RefusalCode::WritablePath, "", std::move(found), std::move(wanted), std::move(remedy)};
}

std::string modeText(mode_t mode) {
    char text[8];
    std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
    return text;
}

bool isReadOnly(const fs::path& path) {
    struct statvfs status {};
    return ::statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

// Goes a path as the kernel does, and looks at what it passes.
class PathWalk {
public:
    PathWalk(uid_t self, uid_t owner) : self_(self), owner_(owner) {}

    // Refuses what is wrong on the way to `path`, and with what is there.
    std::optional<Refusal> check(const fs::path& path) {
        const fs::path whole = fs::absolute(path);
        std::deque<fs::path> rest(whole.begin(), whole.end());
        for (int links = 0; !rest.empty();) {
            const fs::path name = std::move(rest.front());
            rest.pop_front();
            if (name == "/") at_ = "/";
            else if (name == "..") at_ = at_.parent_path();  // right, as `at_` has no links
            if (name == "/" || name == ".." || name == "." || name.empty()) continue;
            struct stat above {};
            if (auto refused = look(at_, above, S_ISVTX)) return refused;
            const fs::path entry = at_ / name;
            struct stat status {};
            if (::lstat(entry.c_str(), &status) != 0) return unreadable(entry, errno);
            if (!S_ISLNK(status.st_mode)) {
                at_ = entry;
                continue;
            }
            if ((above.st_mode & S_IWOTH) != 0) {
                if (auto refused = checkOwner(entry, status)) return refused;
            }
            std::error_code failure;
            const fs::path target = fs::read_symlink(entry, failure);
            if (failure) return unreadable(entry, failure.value());
            if (++links > kMaxLinks) return unreadable(entry, ELOOP);
            rest.insert(rest.begin(), target.begin(), target.end());
        }
        return look(at_, status_, 0);
    }

    // After check(): where the path leads to, without links, and who owns that.
    const fs::path& target() const { return at_; }
    std::optional<Refusal> checkOwner() const { return checkOwner(at_, status_); }

private:
    std::optional<Refusal> checkOwner(const fs::path& path, const struct stat& status) const {
        const uid_t owner = status.st_uid;
        if (owner == 0 || owner == self_ || owner == owner_ || isReadOnly(path.parent_path())) return std::nullopt;
        std::string wanted = "0 (root)";
        if (self_ != 0) wanted += ", " + std::to_string(self_) + " (the gateway's)";
        if (owner_ != 0 && owner_ != self_) wanted += ", " + std::to_string(owner_) + " (the directory's)";
        return writable(path.string() + " belongs to user " + std::to_string(owner), wanted,
                        "chown -h root " + path.string());
    }

    // `excuse`: a bit of the mode that makes up for everybody's.
    static std::optional<Refusal> look(const fs::path& path, struct stat& status, mode_t excuse) {
        if (::lstat(path.c_str(), &status) != 0) return unreadable(path, errno);
        if ((status.st_mode & S_IWOTH) == 0 || (status.st_mode & excuse) != 0 || isReadOnly(path)) return std::nullopt;
        return writable(path.string() + " has mode " + modeText(status.st_mode) + ", so everybody may write to it",
                        "a mode without o+w", "chmod o-w " + path.string());
    }

    const uid_t self_;
    const uid_t owner_;
    fs::path at_ = "/";
    struct stat status_ {};
};

struct FreeKey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

base::Error badSetting(std::string origin, std::string message) {
    return {base::ErrorCode::InvalidConfig, std::move(origin), std::move(message)};
}

base::Result<TrustPolicy::Key> readKey(const fs::path& path) {
    const std::string origin = "extPlugin.trust.keys: " + path.string();
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
    if (!file) return badSetting(origin, std::string("cannot be read: ") + std::strerror(errno));
    const std::unique_ptr<EVP_PKEY, FreeKey> key(PEM_read_PUBKEY(file.get(), nullptr, nullptr, nullptr));
    if (!key) return badSetting(origin, "expected a public key in PEM (BEGIN PUBLIC KEY)");
    TrustPolicy::Key out{path, {}};
    std::size_t size = out.bytes.size();
    if (EVP_PKEY_id(key.get()) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_public_key(key.get(), out.bytes.data(), &size) != 1 || size != out.bytes.size()) {
        return badSetting(origin, "expected an Ed25519 key, got one of another kind");
    }
    return out;
}

bool verifies(const TrustPolicy::Key& key, std::string_view bytes, std::string_view signature) {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    const std::unique_ptr<EVP_PKEY, FreeKey> made(
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
    const std::unique_ptr<EVP_MD_CTX, FreeContext> context(EVP_MD_CTX_new());
    return made && context &&
           EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, made.get()) == 1 &&
           EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                            data, bytes.size()) == 1;
}

struct Signature {
    std::string bytes;
    std::string problem;  // what is there instead of one; "" for nothing
};

Signature readSignature(const fs::path& path) {
    // O_NONBLOCK: a FIFO put there must not hang the scan.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return {"", "does not exist"};
    if (fd < 0) return {"", std::string("cannot be read: ") + std::strerror(errno)};
    std::string text(kMaxSignatureFile, '\0');
    const ssize_t got = ::read(fd, text.data(), text.size());
    const int number = errno;
    ::close(fd);
    if (got < 0) return {"", std::string("cannot be read: ") + std::strerror(number)};
    text.resize(static_cast<std::size_t>(got));
    if (text.size() == kSignatureBytes) return {text, ""};
    auto decoded = decodeBase64(text);
    if (decoded && decoded->size() == kSignatureBytes) return {std::move(decoded).value(), ""};
    return {"", "holds no Ed25519 signature (64 bytes, or those in base64)"};
}

std::string keyNames(const TrustPolicy& policy) {
    std::string names;
    for (const TrustPolicy::Key& key : policy.keys) names += (names.empty() ? "" : ", ") + key.file.string();
    return names;
}

}  // namespace

std::optional<Refusal> checkPath(const fs::path& directory, const fs::path& file, uid_t self) {
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) return unreadable(directory, errno);
    PathWalk walk(self, status.st_uid);
    if (auto refused = walk.check(directory)) return refused;
    if (auto refused = walk.check(file)) return refused;
    if (auto refused = walk.checkOwner()) return refused;
    // The directory that the file is in, again: there the sticky bit is no excuse, and the owner matters.
    if (auto refused = walk.check(walk.target().parent_path())) return refused;
    return walk.checkOwner();
}

base::Result<TrustPolicy> TrustPolicy::make(std::span<const std::string> sha256, std::span<const fs::path> keys) {
    TrustPolicy policy;
    for (const std::string& given : sha256) {
        std::string digest = base::toLower(given);
        if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != digest.npos)
            return badSetting("extPlugin.trust.sha256", "expected 64 hex digits, got \"" + given + "\"");
        policy.sha256.insert(std::move(digest));
    }
    for (const fs::path& path : keys) {
        auto key = readKey(path);
        if (!key) return std::move(key).error();
        policy.keys.push_back(std::move(key).value());
    }
    return policy;
}

fs::path signatureOf(const fs::path& file) { return file.string() + ".sig"; }

std::optional<std::string> signatureBeside(const fs::path& file) {
    Signature signature = readSignature(signatureOf(file));
    if (!signature.problem.empty()) return std::nullopt;
    return std::move(signature.bytes);
}

std::optional<Refusal> checkTrust(const fs::path& file, std::string_view bytes, const std::string& sha256,
                                  const TrustPolicy& policy, const std::optional<std::string>& sent) {
    if (policy.trustsAll() || policy.sha256.contains(sha256)) return std::nullopt;
    Refusal refusal{RefusalCode::Untrusted, "", "", "", ""};
    if (!policy.sha256.empty()) {
        refusal.found = "SHA-256 " + sha256 + " is none of the " + std::to_string(policy.sha256.size()) +
                        " in extPlugin.trust.sha256";
        refusal.wanted = "a listed hash";
        refusal.remedy = "add it to extPlugin.trust.sha256";
    }
    if (policy.keys.empty()) return refusal;

    const std::string where = sent ? std::string(kSignatureField) : signatureOf(file).string();
    const Signature signature = sent ? Signature{*sent, ""} : readSignature(where);
    const auto good = [&](const TrustPolicy::Key& key) { return verifies(key, bytes, signature.bytes); };
    if (signature.problem.empty() && std::ranges::any_of(policy.keys, good)) return std::nullopt;
    const std::string problem =
        signature.problem.empty() ? "is no signature over these bytes by a known key" : signature.problem;
    const bool listed = !refusal.found.empty();
    refusal.found += (listed ? "; " : "") + where + " " + problem;
    refusal.wanted += (listed ? " or " : "") + ("a signature by " + keyNames(policy));
    const std::string command = "sign it: openssl pkeyutl -sign -rawin -inkey KEY -in ";
    refusal.remedy += (listed ? " or " : "") +
                      (sent ? std::string(kSignRemedy) : command + file.string() + " -out " + where);
    return refusal;
}

}  // namespace weir::module
