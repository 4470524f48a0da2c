// Modules that may run because somebody signed them: as files, in uploads, and when they are rolled back.
#include <fstream>

#include "functional/ext_folder.hpp"
#include "functional/module_caller.hpp"
#include "functional/proxy_config.hpp"
#include "support/catch.hpp"
#include "support/child_process.hpp"
#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"

namespace fs = std::filesystem;
using namespace weir::support;
using namespace weir::functional;
using Catch::Contains;

namespace {

void openssl(const std::vector<std::string>& arguments) {
    const Finished finished = runToEnd("/usr/bin/openssl", arguments);
    INFO(finished.output);
    REQUIRE(finished.exitCode == 0);
}

// Two keys, one of which the gateway knows.
class Signer {
public:
    Signer() {
        for (const char* name : {"known", "unknown"}) {
            openssl({"genpkey", "-algorithm", "ed25519", "-out", path(name)});
            openssl({"pkey", "-in", path(name), "-pubout", "-out", path(name) + ".pem"});
        }
    }
    std::string trusting() const { return "--extPlugin.trust.keys=" + path("known") + ".pem"; }
    // Over the file's bytes, 64 bytes.
    std::string sign(const fs::path& file, const std::string& key = "known") const {
        openssl({"pkeyutl", "-sign", "-rawin", "-inkey", path(key), "-in", file.string(), "-out", path("signature")});
        return bytesOf(path("signature"));
    }

private:
    std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

    TempDirectory directory_;
};

std::string member(const std::string& signature) { return ",\"pluginJarSignature\":\"" + signature + "\""; }

// A file of the folder, with its signature beside it first.
void put(const ExtFolder& folder, const Signer& signer, const fs::path& file) {
    folder.renameBytes(signer.sign(file), "hello.so.sig");
    folder.rename(file, "hello.so");
}

}  // namespace

TEST_CASE("an upload is trusted by the signature that it brings, and serves after a restart by the same") {
    const Signer signer;
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const auto arguments = callArguments(folder, {"--extPlugin.upload=true", signer.trusting()});
    {
        GatewayProcess gateway(proxyTo(upstream.address()), arguments);
        for (const char* value : {"1", "2", "1"}) {
            INFO(value);
            const fs::path file = built(std::string("hello-") + value, "hello");
            CHECK(upload(gateway, base64(bytesOf(file)), member(base64(signer.sign(file)))).body == "success");
            CHECK(hello(gateway) == value);
            CHECK(bytesOf(folder.file("hello.so.sig")) == signer.sign(file));
        }
        CHECK(gateway.stop() == 0);
    }
    const GatewayProcess gateway(proxyTo(upstream.address()), arguments);
    CHECK(hello(gateway) == "1");
}

TEST_CASE("an upload whose signature is wrong, missing or none is refused with the reason, and changes nothing") {
    const Signer signer;
    const fs::path one = built("hello-1", "hello");
    const fs::path two = built("hello-2", "hello");
    const std::string jar = base64(bytesOf(two));
    struct Row {
        const char* what;
        std::string more;
        std::vector<const char*> parts;
    };
    const Row rows[] = {
        {"by another key", member(base64(signer.sign(two, "unknown"))),
         {"untrusted", "pluginJarSignature is no signature over these bytes by a known key", "known.pem"}},
        {"over other bytes", member(base64(signer.sign(one))),
         {"untrusted", "pluginJarSignature is no signature over these bytes by a known key"}},
        {"missing", "", {"untrusted", "hello.so.sig is no signature over these bytes", "pluginJarSignature"}},
        {"null", ",\"pluginJarSignature\":null", {"untrusted", "pluginJarSignature"}},
        {"empty", member(""), {"unreadable", "\"field\":\"pluginJarSignature\"", "0 bytes long", "64 bytes"}},
        {"too short", member(base64("x")), {"unreadable", "1 bytes long", "openssl pkeyutl"}},
        {"no base64", member("a$b="), {"unreadable", "pluginJarSignature", "character 2", "'$'"}},
    };
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()),
                                 callArguments(folder, {"--extPlugin.upload=true", signer.trusting()}));
    REQUIRE(upload(gateway, base64(bytesOf(one)), member(base64(signer.sign(one)))).body == "success");
    for (const Row& row : rows) {
        INFO(row.what);
        const HttpMessage answer = upload(gateway, jar, row.more);
        CHECK(answer.status() == 400);
        for (const char* part : row.parts) CHECK_THAT(answer.body, Contains(part));
        CHECK(hello(gateway) == "1");
        CHECK(bytesOf(folder.file("hello.so")) == bytesOf(one));
        CHECK(bytesOf(folder.file("hello.so.sig")) == signer.sign(one));
    }
    const HttpMessage alone = call(gateway, "/shenyu/plugin/saveOrUpdate",
                                   "{\"name\":\"hello\"" + member(base64(signer.sign(two))) + "}",
                                   std::string("localKey: ") + kUploadKey + "\r\n");
    CHECK(alone.status() == 400);
    CHECK_THAT(alone.body, Contains("pluginJarSignature is there without pluginJar"));
}

TEST_CASE("a signed module is rolled back though its signature has given way to its successor's") {
    const Signer signer;
    const RecordingUpstream upstream;
    const ExtFolder folder;
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {signer.trusting()}));
    put(folder, signer, built("hello-1", "hello"));
    REQUIRE(becomes(gateway, "1"));
    put(folder, signer, built("hello-2", "hello"));
    REQUIRE(becomes(gateway, "2"));
    const HttpMessage answer = call(gateway, "/plugins/hello:rollback");
    INFO(answer.body);
    CHECK(answer.status() == 200);
    CHECK(hello(gateway) == "1");
}

TEST_CASE("weir plugin install takes a module's signature along") {
    const Signer signer;
    const TempDirectory release;
    const ExtFolder folder;
    const fs::path file = release.write("hello.so", bytesOf(built("hello-1", "hello")));
    const auto install = [&] {
        return runToEnd(WEIR_BINARY, {"plugin", "install", file.string(), "--extPlugin.path=" + folder.path().string(),
                                      signer.trusting()});
    };
    const Finished unsigned_ = install();
    CHECK(unsigned_.exitCode == 65);
    CHECK_THAT(unsigned_.output, Contains("untrusted") && Contains("hello.so.sig does not exist"));
    release.write("hello.so.sig", signer.sign(file));
    CHECK(install().exitCode == 0);
    const RecordingUpstream upstream;
    const GatewayProcess gateway(proxyTo(upstream.address()), callArguments(folder, {signer.trusting()}));
    CHECK(hello(gateway) == "1");
}
