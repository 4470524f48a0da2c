#include "module/module_trust.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/digest.hpp"
#include "fixtures/child.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/temp_directory.hpp"

using namespace weir::module;
using weir::support::TempDirectory;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kStranger = 4242;

// Makes `path` another user's. Who is not root asks the check for another user instead; that is the user to ask for.
uid_t giveAway(const fs::path& path) {
    if (::geteuid() != 0) return ::geteuid() + 1;
    REQUIRE(::lchown(path.c_str(), kStranger, static_cast<gid_t>(-1)) == 0);
    return 0;
}

std::string refusalOf(const std::optional<Refusal>& refusal) { return refusal ? refusal->text() : "none"; }

std::string readFile(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string fromHex(std::string_view hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

std::optional<Refusal> trust(const fs::path& file, const TrustPolicy& policy) {
    const std::string bytes = readFile(file);
    return checkTrust(file, bytes, weir::base::sha256Hex(bytes), policy);
}

TrustPolicy policyOf(const std::vector<std::string>& sha256, const std::vector<fs::path>& keys) {
    auto policy = TrustPolicy::make(sha256, keys);
    if (!policy) FAIL(policy.error().text());
    return std::move(policy).value();
}

std::string policyError(const std::vector<std::string>& sha256, const std::vector<fs::path>& keys) {
    const auto policy = TrustPolicy::make(sha256, keys);
    return policy ? "none" : policy.error().text();
}

void openssl(const std::vector<std::string>& arguments) {
    const auto finished = weir::support::runToEnd("/usr/bin/openssl", arguments);
    INFO(finished.output);
    REQUIRE(finished.exitCode == 0);
}

}  // namespace

TEST_CASE("a module is refused when everybody may write to it or to a directory on its way") {
    struct Row { const char* name; const char* path; mode_t mode; const char* culprit; };
    const Row rows[] = {
        {"the usual modes", "top/ext", 0755, nullptr},
        {"a file a group may write to", "top/ext/m.so", 0664, nullptr},
        {"a directory a group may write to", "top/ext", 02775, nullptr},
        {"a file everybody may write to", "top/ext/m.so", 0666, "top/ext/m.so"},
        {"a directory everybody may write to", "top/ext", 0777, "top/ext"},
        {"a directory in which only one's own can be removed", "top/ext", 01777, "top/ext"},
        {"a directory above", "top", 0777, "top"},
        {"a directory above in which only one's own can be removed", "top", 01777, nullptr},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        const TempDirectory directory;
        const fs::path file = directory.write("top/ext/m.so", "x");
        for (const char* each : {"top", "top/ext"}) ::chmod((directory.path() / each).c_str(), 0755);
        ::chmod(file.c_str(), 0644);
        ::chmod((directory.path() / row.path).c_str(), row.mode);
        const auto refusal = checkPath(directory.path() / "top/ext", file);
        if (row.culprit == nullptr) {
            CHECK(refusalOf(refusal) == "none");
            continue;
        }
        REQUIRE(refusal);
        CHECK(refusal->code == RefusalCode::WritablePath);
        const std::string culprit = (directory.path() / row.culprit).string();
        CHECK_THAT(refusal->text(), Catch::StartsWith("writable_path: " + culprit + " has mode ") &&
                                        Catch::EndsWith(", so everybody may write to it, expected a mode without o+w: "
                                                        "chmod o-w " + culprit));
    }
}

TEST_CASE("a link is followed, and what it leads through must be as safe") {
    const TempDirectory directory;
    const fs::path root = directory.path();
    directory.write("real/v1/m.so", "x");
    fs::create_directories(root / "ext");
    fs::create_directories(root / "middle");
    fs::create_symlink("../middle/m.so", root / "ext/m.so");
    fs::create_symlink(root / "real/v1/m.so", root / "middle/m.so");
    CHECK(refusalOf(checkPath(root / "ext", root / "ext/m.so")) == "none");
    struct Row { const char* path; mode_t open; };
    for (const Row& row : {Row{"middle", 0777}, Row{"real", 0777}, Row{"real/v1", 01777}, Row{"real/v1/m.so", 0666}}) {
        INFO(row.path);
        const fs::path path = root / row.path;
        const fs::perms before = fs::status(path).permissions();
        ::chmod(path.c_str(), row.open);
        CHECK_THAT(refusalOf(checkPath(root / "ext", root / "ext/m.so")),
                   Catch::StartsWith("writable_path: " + path.string() + " has mode "));
        fs::permissions(path, before);
    }
    fs::create_directory_symlink("ext", root / "current");
    CHECK(refusalOf(checkPath(root / "current", root / "current/m.so")) == "none");
    ::chmod((root / "ext").c_str(), 0777);
    CHECK_THAT(refusalOf(checkPath(root / "current", root / "current/m.so")),
               Catch::StartsWith("writable_path: " + (root / "ext").string() + " has mode 0777"));
}

TEST_CASE("a path that cannot be followed is unreadable") {
    const TempDirectory directory;
    const fs::path root = directory.path();
    fs::create_symlink("b.so", root / "a.so");
    fs::create_symlink("a.so", root / "b.so");
    CHECK_THAT(refusalOf(checkPath(root, root / "a.so")),
               Catch::StartsWith("unreadable: ") && Catch::EndsWith("Too many levels of symbolic links"));
    CHECK(refusalOf(checkPath(root, root / "c.so")) ==
          "unreadable: " + (root / "c.so").string() + ": No such file or directory");
    CHECK(refusalOf(checkPath(root / "none", root / "none/c.so")) ==
          "unreadable: " + (root / "none").string() + ": No such file or directory");
}

TEST_CASE("a module of another user is refused, unless that user owns the directory too") {
    const TempDirectory directory;
    const fs::path file = directory.write("ext/m.so", "x");
    const uid_t self = giveAway(file);
    // A directory of root's beside it: what counts is whose it is.
    const auto refusal = checkPath("/usr", file, self);
    REQUIRE(refusal);
    CHECK_THAT(refusal->text(), Catch::StartsWith("writable_path: " + file.string() + " belongs to user ") &&
                                    Catch::Contains(", expected 0 (root)") &&
                                    Catch::EndsWith(": chown -h root " + file.string()));
    giveAway(file.parent_path());
    CHECK(refusalOf(checkPath(file.parent_path(), file, self)) == "none");
}

TEST_CASE("a module in a directory that another user owns is refused, whoever owns the file") {
    const TempDirectory directory;
    const fs::path file = directory.write("theirs/m.so", "x");
    const uid_t self = giveAway(file.parent_path());
    CHECK_THAT(refusalOf(checkPath("/usr", file, self)), Catch::Contains(" belongs to user "));
}

TEST_CASE("another user's link in a directory for everybody is refused") {
    const TempDirectory directory;
    const fs::path shared = directory.path() / "shared";
    fs::create_directory(shared);
    ::chmod(shared.c_str(), 01777);
    fs::create_symlink("/bin/sh", shared / "m.so");
    const uid_t self = giveAway(shared / "m.so");
    CHECK_THAT(refusalOf(checkPath("/usr", shared / "m.so", self)),
               Catch::StartsWith("writable_path: " + (shared / "m.so").string() + " belongs to user "));
}

TEST_CASE("modes do not matter on a file system that is mounted read-only") {
    const TempDirectory directory;
    const fs::path place = directory.path();
    runWithMount(place, 0, "mode=0777", [&] {
        directory.write("m.so", "x");
        if (!checkPath(place, place / "m.so")) return 1;
        if (::mount(nullptr, place.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return kCannotMount;
        return checkPath(place, place / "m.so") ? 2 : 0;
    });
}

TEST_CASE("without a policy every module is trusted") {
    CHECK(policyOf({}, {}).trustsAll());
    CHECK_FALSE(checkTrust("/ext/m.so", "x", weir::base::sha256Hex("x"), {}));
}

TEST_CASE("a module on the list is trusted by its bytes, in either case of the digits") {
    const TempDirectory directory;
    const fs::path file = directory.write("m.so", "abc");
    const char* upper = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD";
    CHECK(refusalOf(trust(file, policyOf({upper}, {}))) == "none");
    directory.write("m.so", "abd");
    CHECK(refusalOf(trust(file, policyOf({upper, std::string(64, '0')}, {}))) ==
          "untrusted: SHA-256 a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9 is none of the 2 in "
          "extPlugin.trust.sha256, expected a listed hash: add it to extPlugin.trust.sha256");
}

TEST_CASE("a signature of RFC 8032 is verified, as bytes and as base64") {
    const TempDirectory directory;
    const fs::path file = directory.write("m.so", "\xaf\x82");
    const std::string key = fromHex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
    const std::string signature = fromHex(
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a");
    TrustPolicy policy;
    policy.keys.push_back({"/etc/weir/release.pem", {}});
    std::copy(key.begin(), key.end(), policy.keys[0].bytes.begin());

    CHECK(signatureOf(file) == file.string() + ".sig");
    CHECK_THAT(refusalOf(trust(file, policy)),
               Catch::StartsWith("untrusted: " + file.string() +
                                 ".sig does not exist, expected a signature by /etc/weir/release.pem: sign it: openssl "
                                 "pkeyutl -sign -rawin -inkey KEY -in "));
    directory.write("m.so.sig", signature);
    CHECK(refusalOf(trust(file, policy)) == "none");
    directory.write("m.so.sig", "YpHWV97sJAJIJ+acOr4BowzlSKKEdDpEXjaA19taw6wY/5tTjRbykK5n92CYTcZZ\n"
                                "SnwV6XFu0o3AJ77O6h7ECg==\n");
    CHECK(refusalOf(trust(file, policy)) == "none");
    directory.write("m.so.sig", "nonsense");
    CHECK_THAT(refusalOf(trust(file, policy)),
               Catch::Contains(".sig holds no Ed25519 signature (64 bytes, or those in base64)"));
    directory.write("m.so.sig", signature);
    directory.write("m.so", "\xaf\x83");
    CHECK_THAT(refusalOf(trust(file, policy)), Catch::Contains(".sig is no signature over these bytes by a known key"));
    policy.sha256.insert(std::string(64, '0'));
    CHECK_THAT(refusalOf(trust(file, policy)),
               Catch::Contains(" is none of the 1 in extPlugin.trust.sha256; ") &&
                   Catch::Contains("expected a listed hash or a signature by /etc/weir/release.pem: add it to "
                                   "extPlugin.trust.sha256 or sign it: "));
}

TEST_CASE("what openssl makes and signs as documented is trusted") {
    const TempDirectory directory;
    const auto path = [&](const char* name) { return (directory.path() / name).string(); };
    for (const char* name : {"release", "other"}) {
        const std::string key = path(name);
        openssl({"genpkey", "-algorithm", "ed25519", "-out", key + ".key"});
        openssl({"pkey", "-in", key + ".key", "-pubout", "-out", key + ".pem"});
    }
    const fs::path file = directory.write("m.so", std::string(100000, 'm'));
    openssl({"pkeyutl", "-sign", "-rawin", "-inkey", path("release.key"), "-in", file.string(), "-out",
             signatureOf(file).string()});
    CHECK(refusalOf(trust(file, policyOf({}, {path("release.pem")}))) == "none");
    CHECK(refusalOf(trust(file, policyOf({}, {path("other.pem"), path("release.pem")}))) == "none");
    CHECK_THAT(refusalOf(trust(file, policyOf({}, {path("other.pem")}))),
               Catch::Contains("is no signature over these bytes by a known key"));
    openssl({"base64", "-in", signatureOf(file).string(), "-out", path("text")});
    fs::rename(path("text"), signatureOf(file));
    CHECK(refusalOf(trust(file, policyOf({}, {path("release.pem")}))) == "none");

    openssl({"genpkey", "-algorithm", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path("ec.key")});
    openssl({"pkey", "-in", path("ec.key"), "-pubout", "-out", path("ec.pem")});
    CHECK(policyError({}, {path("release.pem"), path("ec.pem")}) ==
          "extPlugin.trust.keys: " + path("ec.pem") + ": expected an Ed25519 key, got one of another kind");
    CHECK(policyError({}, {path("release.key")}) ==
          "extPlugin.trust.keys: " + path("release.key") + ": expected a public key in PEM (BEGIN PUBLIC KEY)");
}

TEST_CASE("a policy that cannot be understood is an error that names the culprit") {
    const TempDirectory directory;
    const fs::path garbage = directory.write("key.pem", "garbage");
    const fs::path missing = directory.path() / "missing.pem";
    CHECK(policyError({}, {garbage}) ==
          "extPlugin.trust.keys: " + garbage.string() + ": expected a public key in PEM (BEGIN PUBLIC KEY)");
    CHECK(policyError({}, {missing}) ==
          "extPlugin.trust.keys: " + missing.string() + ": cannot be read: No such file or directory");
    const std::string digest(64, 'a');
    for (const std::string& wrong : {std::string("abc"), digest.substr(1), digest + "a", digest.substr(1) + "g"})
        CHECK(policyError({wrong}, {}) == "extPlugin.trust.sha256: expected 64 hex digits, got \"" + wrong + "\"");
}
