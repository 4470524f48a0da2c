#include "data/configuration.hpp"

#include <algorithm>
#include <system_error>

#include "base/digest.hpp"
#include "config/messages.hpp"
#include "config/text_file.hpp"
#include "config/yaml.hpp"
#include "data/data_file.hpp"

namespace weir::data {

namespace {

using base::Mark;
using base::Result;
using base::Value;
namespace fs = std::filesystem;

const std::vector<std::string_view> kMainRoots = {"weir", "plugins", "metadata", "appAuth", "include"};
const std::vector<std::string_view> kDataRoots = {"plugins", "metadata", "appAuth"};

bool contains(const std::vector<std::string_view>& roots, std::string_view key) {
    return std::ranges::find(roots, key) != roots.end();
}

bool sameFile(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

// `pattern` for glob(3), its directory taken literally.
std::string globPattern(const fs::path& directory, const std::string& pattern) {
    if (fs::path(pattern).is_absolute() || directory.empty()) return pattern;
    std::string escaped;
    for (char c : directory.string() + "/") {
        if (std::string_view("*?[]\\").find(c) != std::string_view::npos) escaped += '\\';
        escaped += c;
    }
    return escaped + pattern;
}

class Loader {
public:
    Loader(fs::path file, SourceFiles& read) : main_(std::move(file)), read_(read), data_(configuration_.warnings) {}

    Result<Configuration> load(const std::vector<config::Override>& overrides, const config::Environment& environment) {
        auto root = readTree(main_);
        if (!root) return root.error();
        auto done = checkRoots(*root, main_.string(), kMainRoots);
        if (!done) return done.error();
        const Value* tree = root->find("weir");
        auto settings = config::readSettings(tree ? *tree : Value(), main_.string(), overrides, environment,
                                             configuration_.warnings);
        if (!settings) return settings.error();
        configuration_.settings = std::move(*settings);
        done = data_.add(*root, main_.string());
        if (!done) return done.error();
        done = readIncludes(*root);
        if (!done) return done.error();
        configuration_.data = data_.take();
        return std::move(configuration_);
    }

private:
    Result<Value> readTree(const fs::path& file) {
        SourceFiles::File& source = read_.files[file];
        source.key = FileKey::of(file);
        auto text = config::readTextFile(file);
        if (!text) return text.error();
        source.digest = base::sha256Hex(*text);
        return config::parseYaml(*text, file.string());
    }

    Result<void> checkRoots(const Value& root, const std::string& file, const std::vector<std::string_view>& roots) {
        if (root.isNull()) return {};
        std::string expected;
        for (std::string_view key : roots) expected += (expected.empty() ? "" : ", ") + std::string(key);
        if (!root.isObject()) {
            return config::invalid(file, root.mark(), "expected a map with " + expected + ", " + config::got(root));
        }
        for (const Value::Member& member : root.members()) {
            if (contains(roots, member.key)) continue;
            std::string name = base::jsonQuote(member.key);
            if (contains(kMainRoots, member.key)) {
                return config::invalid(file, member.keyMark,
                                       name + " is taken in the main file only; expected here: " + expected);
            }
            std::string hint = config::didYouMean(member.key, roots);
            if (!hint.empty()) return config::invalid(file, member.keyMark, config::unknownKey(member.key, roots));
            configuration_.warnings.push_back(config::place(file, member.keyMark) + ": " + name +
                                              " is not Weir's and ignored");
        }
        return {};
    }

    Result<void> readIncludes(const Value& root) {
        const Value* include = root.find("include");
        if (!include || include->isNull()) return {};
        if (include->isScalar()) return includePattern(*include);
        if (!include->isArray()) {
            return config::invalid(main_.string(), include->mark(),
                                   "include: expected a list, " + config::got(*include));
        }
        for (const Value& pattern : include->items()) {
            auto done = includePattern(pattern);
            if (!done) return done;
        }
        return {};
    }

    Result<void> includePattern(const Value& pattern) {
        auto refuse = [&](std::string message) {
            return config::invalid(main_.string(), pattern.mark(), "include: " + std::move(message));
        };
        if (!pattern.isScalar() || pattern.isNull() || pattern.text().empty()) {
            return refuse("expected a file name or a pattern such as conf.d/*.yaml, " + config::got(pattern));
        }
        read_.patterns.push_back(globPattern(main_.parent_path(), pattern.text()));
        auto files = globFiles(read_.patterns.back());
        bool literal = pattern.text().find_first_of("*?[") == std::string::npos;
        if (files.empty() && literal) return refuse("no such file: " + (main_.parent_path() / pattern.text()).string());
        for (const std::string& file : files) {
            if (sameFile(file, main_)) {
                read_.files[file].key = FileKey::of(file);  // it may be a link, and go
                return refuse(base::jsonQuote(pattern.text()) + " includes this file itself");
            }
            auto same = [&](const auto& read) { return sameFile(read.first, file); };
            if (std::ranges::any_of(read_.files, same)) continue;  // named by two patterns
            auto done = includeFile(file);
            if (!done) return done;
        }
        return {};
    }

    Result<void> includeFile(const std::string& file) {
        auto root = readTree(file);
        if (!root) return root.error();
        auto done = checkRoots(*root, file, kDataRoots);
        if (!done) return done;
        return data_.add(*root, file);
    }

    fs::path main_;
    SourceFiles& read_;
    Configuration configuration_;
    DataFiles data_;
};

}  // namespace

Result<Configuration> loadConfiguration(const fs::path& file, const std::vector<config::Override>& overrides,
                                        const config::Environment& environment, SourceFiles* read) {
    SourceFiles own;
    return Loader(file, read ? *read : own).load(overrides, environment);
}

}  // namespace weir::data
