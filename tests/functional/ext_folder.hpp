#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/gateway_process.hpp"
#include "support/recording_upstream.hpp"
#include "support/temp_directory.hpp"

namespace weir::functional {

// One build of a fixture module, e.g. built("hello-1", "hello").
std::filesystem::path built(const std::string& build, const std::string& id);

// The drop directory of a gateway under test, and what people do to it.
class ExtFolder {
public:
    // There, and empty.
    ExtFolder();

    // Not the directory itself: what may come and go lies one level below.
    std::filesystem::path path() const { return directory_.path() / "ext"; }
    std::filesystem::path file(const std::string& name) const { return path() / name; }
    // Command line of a gateway that uses it; periodic scans are too rare to help.
    std::vector<std::string> arguments() const;

    // A file of that name gets the bytes of `source`: written beside it and renamed; as `cp` does it (which writes into
    // a file that is there already); as `cp` does it from a slow disk, with a pause longer than the gateway's settle
    // time while half of what the loader maps is there.
    void rename(const std::filesystem::path& source, const std::string& name) const;
    void copy(const std::filesystem::path& source, const std::string& name) const;
    void copySlowly(const std::filesystem::path& source, const std::string& name) const;
    // Like rename() and copy(), for bytes made up by a test.
    void renameBytes(const std::string& bytes, const std::string& name) const;
    // As Kubernetes does it with a volume: `name` is a link through the link `..data`, which takes another target.
    void swapData(const std::filesystem::path& source, const std::string& name);
    void remove(const std::string& name) const { std::filesystem::remove(file(name)); }

private:
    support::TempDirectory directory_;
    int swaps_ = 0;
};

std::string bytesOf(const std::filesystem::path& file);
// How much of a shared object the loader maps; what is behind may be missing.
std::size_t loadableSize(const std::string& bytes);

// What came last; throws when nothing has.
support::HttpMessage lastRequest(const support::RecordingUpstream& upstream);

// What a gateway logs from now on.
class LogWatch {
public:
    explicit LogWatch(support::GatewayProcess& gateway);

    // Waits for a line with all these parts in it; throws with what there was instead.
    void waitFor(const std::vector<std::string>& parts) const;
    std::size_t count(const std::string& text) const;

private:
    std::string added() const;

    support::GatewayProcess& gateway_;
    std::size_t from_;
};

}  // namespace weir::functional
