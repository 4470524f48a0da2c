// Who may include whom: runtime's layers go leftwards only, the SDK stands alone, modules see the SDK and themselves.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = WEIR_SOURCE_ROOT;

// "probe" is a program beside them.
constexpr std::array<std::string_view, 12> kLayers = {"base",  "net",      "config", "http",   "module",  "data",
                                                      "match", "upstream", "chain",  "manage", "gateway", "probe"};

struct Include {
    std::string place;  // file:line, below the root
    fs::path file;
    std::string what;  // between the quotes or brackets
    bool quoted;

    std::string folder() const { return what.substr(0, what.find('/')); }
};

bool isSource(const fs::path& file) {
    return file.extension() == ".cpp" || file.extension() == ".hpp" || file.extension() == ".h";
}

// Every include of the sources below a folder.
std::vector<Include> includesOf(const fs::path& folder) {
    std::vector<Include> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder)) {
        if (!entry.is_regular_file() || !isSource(entry.path())) continue;
        std::ifstream file(entry.path());
        int number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            line.erase(std::remove(line.begin(), line.end(), ' '), line.end());
            if (line.rfind("#include", 0) != 0 || line.size() < 10) continue;
            const bool quoted = line[8] == '"';
            const std::size_t end = line.find_first_of(quoted ? "\"" : ">", 9);
            found.push_back({fs::relative(entry.path(), kRoot).string() + ":" + std::to_string(number), entry.path(),
                             line.substr(9, end - 9), quoted});
        }
    }
    return found;
}

int layerOf(std::string_view folder) {
    const auto it = std::find(kLayers.begin(), kLayers.end(), folder);
    return it == kLayers.end() ? -1 : static_cast<int>(it - kLayers.begin());
}

bool isThirdParty(const Include& include) {
    constexpr std::array<std::string_view, 4> kFolders = {"Poco", "boost", "yaml-cpp", "openssl"};
    return std::find(kFolders.begin(), kFolders.end(), include.folder()) != kFolders.end();
}

bool isFile(const fs::path& path) { return fs::is_regular_file(path); }

// A module's include that is neither the SDK, nor a file of its own folder, nor of the language or the system.
bool reachesOut(const Include& include, const fs::path& own) {
    if (isFile(kRoot / "sdk/include" / include.what)) return false;
    if (include.quoted) {
        const fs::path target = (include.file.parent_path() / include.what).lexically_normal();
        const fs::path inside = target.lexically_relative(own);
        return !isFile(target) || inside.begin()->string() == "..";
    }
    return isThirdParty(include) || isFile(kRoot / "runtime" / include.what);
}

std::vector<fs::path> modules() {
    std::vector<fs::path> folders;
    for (const char* parent : {"plugins", "samples", "ext-plugins"}) {
        for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / parent)) {
            const std::string name = entry.path().filename().string();
            const bool isSamplePlugin = name.size() > 7 && name.compare(name.size() - 7, 7, "-plugin") == 0;
            if (entry.is_directory() && (std::string_view(parent) != "samples" || isSamplePlugin))
                folders.push_back(entry.path());
        }
    }
    return folders;
}

}  // namespace

TEST_CASE("every folder of the runtime is a layer") {
    for (const fs::directory_entry& entry : fs::directory_iterator(kRoot / "runtime")) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_directory() || name == "cmake") continue;
        INFO("runtime/" << name << " has no place in the order of layers");
        CHECK(layerOf(name) >= 0);
    }
}

TEST_CASE("a layer of the runtime includes itself and those to its left") {
    for (const std::string_view layer : kLayers) {
        const auto includes = includesOf(fs::path("runtime") / layer);
        REQUIRE_FALSE(includes.empty());
        for (const Include& include : includes) {
            if (!include.quoted) continue;
            INFO(include.place << " includes \"" << include.what << "\"");
            const bool sdk = include.folder() == "weir" && isFile(kRoot / "sdk/include" / include.what);
            const int other = layerOf(include.folder());
            CHECK((sdk || other >= 0));
            CHECK(other <= layerOf(layer));
        }
    }
}

TEST_CASE("the runtime takes the contract from the SDK, not the facade") {
    for (const Include& include : includesOf("runtime")) {
        if (include.folder() != "weir") continue;
        INFO(include.place << " includes \"" << include.what << "\"");
        CHECK(include.what == "weir/abi.h");
    }
}

TEST_CASE("the SDK stands on the language alone") {
    const auto includes = includesOf("sdk");
    REQUIRE_FALSE(includes.empty());
    for (const Include& include : includes) {
        INFO(include.place << " includes " << include.what);
        CHECK((!include.quoted || isFile(kRoot / "sdk/include" / include.what)));
        CHECK_FALSE(isThirdParty(include));
        CHECK_FALSE(isFile(kRoot / "runtime" / include.what));
    }
}

TEST_CASE("a module includes the SDK and its own folder") {
    const auto folders = modules();
    REQUIRE(folders.size() >= 8);
    for (const fs::path& folder : folders) {
        for (const Include& include : includesOf(fs::relative(folder, kRoot))) {
            INFO(include.place << " includes " << include.what);
            CHECK_FALSE(reachesOut(include, folder));
        }
    }
}
