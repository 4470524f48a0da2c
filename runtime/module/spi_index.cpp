#include "module/spi_index.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace weir::module {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::string_view kHeader =
    "# Who serves which key: key = module. Written by weir-spi-index; edit a line to choose another module.\n";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool isInterfaceFile(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    return entry.is_regular_file(ignored) && std::ranges::all_of(name, [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
}

Result<std::vector<fs::path>> interfaceFiles(const fs::path& directory) {
    std::error_code failure;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(directory, failure), end; !failure && it != end; it.increment(failure)) {
        if (isInterfaceFile(*it)) files.push_back(it->path());
    }
    if (failure) {
        const bool missing = failure == std::errc::no_such_file_or_directory;
        return Error{missing ? ErrorCode::NotFound : ErrorCode::Io, directory.string(),
                     "the SPI index cannot be read: " + failure.message()};
    }
    std::ranges::sort(files);
    return files;
}

Result<std::vector<std::string>> readLines(const fs::path& file) {
    std::ifstream in(file);
    if (!in) return Error{ErrorCode::Io, file.string(), "cannot be opened"};
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
    if (in.bad()) return Error{ErrorCode::Io, file.string(), "cannot be read"};
    return lines;
}

bool isComment(std::string_view line) {
    line = trimmed(line);
    return line.empty() || line.front() == '#';
}

// Splits at the last '=': a key may be "=" itself, a module's id has none.
std::optional<SpiLine> parseLine(std::string_view line) {
    const auto equals = line.rfind('=');
    if (equals == std::string_view::npos) return std::nullopt;
    SpiLine out;
    out.key = trimmed(line.substr(0, equals));
    out.module = trimmed(line.substr(equals + 1));
    const auto hasBlank = [](std::string_view text) { return text.find_first_of(" \t") != std::string_view::npos; };
    if (out.key.empty() || out.module.empty() || hasBlank(out.key) || hasBlank(out.module)) return std::nullopt;
    return out;
}

bool isBacked(const SpiLine& line, std::string_view interface, const std::vector<Manifest>& modules) {
    return std::ranges::any_of(modules, [&](const Manifest& manifest) {
        return manifest.id == line.module && manifest.find(interface, line.key) != nullptr;
    });
}

// key -> the ids of the modules that offer it, both in a stable order.
using Offers = std::map<std::string, std::vector<std::string>>;

Result<void> updateFile(const fs::path& file, const Offers& offers, const std::vector<Manifest>& modules) {
    std::vector<std::string> before;
    std::error_code ignored;
    if (fs::exists(file, ignored)) {
        auto lines = readLines(file);
        if (!lines) return std::move(lines).error();
        before = std::move(*lines);
    }
    std::string after = before.empty() ? std::string(kHeader) : std::string();
    Offers missing = offers;
    for (const std::string& line : before) {
        const auto parsed = isComment(line) ? std::nullopt : parseLine(line);
        if (parsed && isBacked(*parsed, file.filename().string(), modules) && missing.erase(parsed->key) > 0) {
            after += line + '\n';
        } else if (isComment(line)) {
            after += line + '\n';
        }
    }
    for (const auto& [key, ids] : missing) {
        if (ids.size() > 1) {
            return Error{ErrorCode::InvalidModule, file.string(),
                         "both " + ids[0] + " and " + ids[1] + " provide \"" + key + "\"; choose with a line \"" + key +
                             " = " + ids[0] + "\""};
        }
        after += key + " = " + ids.front() + '\n';
    }

    std::string joined;
    for (const std::string& line : before) joined += line + '\n';
    if (after == joined) return {};
    std::ofstream out(file, std::ios::trunc);
    out << after;
    out.close();
    if (!out) return Error{ErrorCode::Io, file.string(), "cannot be written"};
    return {};
}

}  // namespace

Result<SpiIndex> SpiIndex::read(const fs::path& directory) {
    auto files = interfaceFiles(directory);
    if (!files) return std::move(files).error();
    SpiIndex index;
    for (const fs::path& file : *files) {
        auto lines = readLines(file);
        if (!lines) return std::move(lines).error();
        for (std::size_t i = 0; i < lines->size(); ++i) {
            const std::string& text = (*lines)[i];
            if (isComment(text)) continue;
            const std::string origin = file.string() + ":" + std::to_string(i + 1);
            auto line = parseLine(text);
            if (!line) {
                return Error{ErrorCode::InvalidConfig, origin, "expected \"key = module\", not \"" + text + "\""};
            }
            line->interface = file.filename().string();
            line->origin = origin;
            if (const SpiLine* other = index.find(line->interface, line->key)) {
                return Error{ErrorCode::InvalidConfig, origin,
                             "\"" + line->key + "\" was chosen before, at " + other->origin};
            }
            index.lines_.push_back(std::move(*line));
        }
    }
    return index;
}

const SpiLine* SpiIndex::find(std::string_view interface, std::string_view key) const {
    const auto it = std::ranges::find_if(
        lines_, [&](const SpiLine& line) { return line.interface == interface && line.key == key; });
    return it == lines_.end() ? nullptr : &*it;
}

Result<void> updateSpiFiles(const fs::path& directory, const std::vector<Manifest>& modules) {
    std::error_code failure;
    fs::create_directories(directory, failure);
    if (failure) return Error{ErrorCode::Io, directory.string(), "cannot be created: " + failure.message()};

    const auto index = SpiIndex::read(directory);  // a line that makes no sense is someone's mistake, not ours to drop
    if (!index) return index.error();

    std::map<std::string, Offers> interfaces;
    for (const Manifest& manifest : modules) {
        for (const Provided& item : manifest.provides) interfaces[item.interface][item.key].push_back(manifest.id);
    }
    // A file whose last module is gone has lines to lose, too.
    auto files = interfaceFiles(directory);
    if (!files) return std::move(files).error();
    for (const fs::path& file : *files) interfaces.try_emplace(file.filename().string());

    for (const auto& [interface, offers] : interfaces) {
        auto updated = updateFile(directory / interface, offers, modules);
        if (!updated) return updated;
    }
    return {};
}

}  // namespace weir::module
