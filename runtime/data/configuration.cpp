#include "data/configuration.hpp"

#include <algorithm>
#include <system_error>

#include "base/digest.hpp"
#include "config/messages.hpp"
#include "config/shenyu_settings.hpp"
#include "config/text_file.hpp"
#include "config/variables.hpp"
#include "config/yaml.hpp"
#include "data/data_file.hpp"

namespace weir::data {

namespace {

using base::Mark;
using base::Result;
using base::Value;
namespace fs = std::filesystem;

const std::vector<std::string_view> kMainRoots = {"weir", "plugins", "metadata", "appAuth", "include"};
const std::vector<std::string_view> kIncludedRoots = {"plugins", "metadata", "appAuth", "include"};

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
    Loader(fs::path file, const config::Environment& environment, SourceFiles& read)
        : main_(std::move(file)), read_(read), environment_(environment), variables_(environment) {}

    Result<Configuration> load(const std::vector<config::Override>& overrides) {
        auto done = readFile(main_, kMainRoots);
        if (!done) return done.error();
        const Value& root = parts_.front().root;
        auto shenyu = config::readShenyuSettings(root, main_.string(), variables_, configuration_.warnings);
        if (!shenyu) return shenyu.error();
        const Value* tree = root.find("weir");
        auto settings = config::readSettings(tree ? *tree : Value(), main_.string(), overrides, environment_,
                                             configuration_.warnings, *shenyu, variables_.used());
        if (!settings) return settings.error();
        configuration_.settings = std::move(*settings);
        DataFiles data(configuration_.warnings);
        for (const Part& part : parts_) {
            done = data.add(part.root, part.file);
            if (!done) return done.error();
        }
        configuration_.data = data.take();
        return std::move(configuration_);
    }

private:
    struct Part {
        Value root;
        std::string file;
    };

    // With what it includes behind it.
    Result<void> readFile(const fs::path& file, const std::vector<std::string_view>& roots) {
        auto tree = readTree(file);
        if (!tree) return tree.error();
        auto done = checkRoots(*tree, file.string(), roots);
        if (!done) return done;
        auto root = expand(std::move(*tree), file.string());
        if (!root) return root.error();
        const Value* found = root->find("include");
        const Value include = found ? *found : Value();
        parts_.push_back({std::move(*root), file.string()});
        chain_.push_back(file);
        done = readIncludes(include);
        chain_.pop_back();
        return done;
    }

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
        const bool main = &roots == &kMainRoots;
        for (const Value::Member& member : root.members()) {
            if (contains(roots, member.key) || (main && config::isShenyuRoot(member.key))) continue;
            std::string name = base::jsonQuote(member.key);
            if (contains(kMainRoots, member.key)) {
                return config::invalid(file, member.keyMark,
                                       name + " is taken in the main file only; expected here: " + expected);
            }
            const std::string first = member.key.substr(0, member.key.find('.'));
            if (contains(kMainRoots, first)) {
                return config::invalid(file, member.keyMark,
                                       name + ": expected \"" + first + ":\" with the rest below it, as a map or a list");
            }
            std::string hint = config::didYouMean(member.key, roots);
            if (!hint.empty()) return config::invalid(file, member.keyMark, config::unknownKey(member.key, roots));
            configuration_.warnings.push_back(config::place(file, member.keyMark) + ": " + name +
                                              (config::isShenyuRoot(member.key)
                                                   ? " is taken in the main file only and ignored here"
                                                   : " is not Weir's and ignored"));
        }
        return {};
    }

    // Other programs' roots stay as they are: what is not read needs no variable.
    Result<Value> expand(Value root, const std::string& file) {
        if (!config::Variables::needed(root)) return root;
        Value expanded = Value::object(root.mark());
        for (const Value::Member& member : root.members()) {
            if (!contains(kMainRoots, member.key)) {
                expanded.set(member.key, member.value, member.keyMark);
                continue;
            }
            auto value = variables_.expand(member.value, file);
            if (!value) return value.error();
            expanded.set(member.key, std::move(*value), member.keyMark);
        }
        return expanded;
    }

    // In the file that is the last of the chain.
    Result<void> readIncludes(const Value& include) {
        if (include.isNull()) return {};
        if (include.isScalar()) return includePattern(include);
        if (!include.isArray()) {
            return config::invalid(chain_.back().string(), include.mark(),
                                   "include: expected a list, " + config::got(include));
        }
        for (const Value& pattern : include.items()) {
            auto done = includePattern(pattern);
            if (!done) return done;
        }
        return {};
    }

    Result<void> includePattern(const Value& pattern) {
        const fs::path naming = chain_.back();
        auto refuse = [&](std::string message) {
            return config::invalid(naming.string(), pattern.mark(), "include: " + std::move(message));
        };
        if (!pattern.isScalar() || pattern.isNull() || pattern.text().empty()) {
            return refuse("expected a file name or a pattern such as conf.d/*.yaml, " + config::got(pattern));
        }
        const std::string glob = globPattern(naming.parent_path(), pattern.text());
        read_.patterns.push_back(glob);
        auto files = globFiles(glob);
        bool literal = pattern.text().find_first_of("*?[") == std::string::npos;
        if (files.empty() && literal) return refuse("no such file: " + (naming.parent_path() / pattern.text()).string());
        for (const std::string& file : files) {
            auto same = [&](const fs::path& other) { return sameFile(other, file); };
            if (std::ranges::any_of(chain_, same)) {
                read_.files[file].key = FileKey::of(file);  // it may be a link, and go
                return refuse(base::jsonQuote(pattern.text()) + " leads back to " + chainText(file));
            }
            if (std::ranges::any_of(parts_, same, &Part::file)) continue;  // named by two patterns
            auto done = readFile(file, kIncludedRoots);
            if (!done) return done;
        }
        return {};
    }

    // "a.yaml -> b.yaml -> a.yaml"
    std::string chainText(const std::string& last) const {
        std::string text;
        for (const fs::path& file : chain_) {
            if (!text.empty() || sameFile(file, last)) text += file.string() + " -> ";
        }
        return text + last;
    }

    fs::path main_;
    SourceFiles& read_;
    const config::Environment& environment_;
    config::Variables variables_;
    Configuration configuration_;
    std::vector<Part> parts_;      // the main file first
    std::vector<fs::path> chain_;  // of the files that are being read, each included by the one before
};

}  // namespace

Result<Configuration> loadConfiguration(const fs::path& file, const std::vector<config::Override>& overrides,
                                        const config::Environment& environment, SourceFiles* read) {
    SourceFiles own;
    return Loader(file, environment, read ? *read : own).load(overrides);
}

}  // namespace weir::data
