#include "functional/ext_folder.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace fs = std::filesystem;

namespace weir::functional {

fs::path built(const std::string& build, const std::string& id) {
    return fs::path(WEIR_TEST_FIXTURES) / build / (id + ".so");
}

std::string bytesOf(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + file.string());
    return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t loadableSize(const std::string& bytes) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    std::size_t end = 0;
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD) end = std::max<std::size_t>(end, segment.p_offset + segment.p_filesz);
    }
    return end;
}

ExtFolder::ExtFolder() { fs::create_directory(path()); }

std::vector<std::string> ExtFolder::arguments() const {
    return {"--extPlugin.enabled=true", "--extPlugin.path=" + path().string(), "--extPlugin.scheduleTime=300",
            "--extPlugin.settleMs=50"};
}

void ExtFolder::rename(const fs::path& source, const std::string& name) const { renameBytes(bytesOf(source), name); }

void ExtFolder::renameBytes(const std::string& bytes, const std::string& name) const {
    fs::rename(directory_.write(name, bytes), file(name));
}

void ExtFolder::copy(const fs::path& source, const std::string& name) const {
    std::ofstream(file(name), std::ios::binary) << bytesOf(source);
}

void ExtFolder::copySlowly(const fs::path& source, const std::string& name) const {
    const std::string bytes = bytesOf(source);
    const std::size_t half = loadableSize(bytes) / 2;
    std::ofstream out(file(name), std::ios::binary);
    out << bytes.substr(0, half) << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    out << bytes.substr(half);
}

void ExtFolder::swapData(const fs::path& source, const std::string& name) {
    const std::string version = "..v" + std::to_string(++swaps_);
    fs::create_directory(path() / version);
    fs::copy_file(source, path() / version / name);
    fs::create_directory_symlink(version, path() / "..new");
    fs::rename(path() / "..new", path() / "..data");
    fs::remove_all(path() / ("..v" + std::to_string(swaps_ - 1)));
    if (fs::is_symlink(file(name))) return;
    fs::remove(file(name));
    fs::create_symlink("..data/" + name, file(name));
}

support::HttpMessage lastRequest(const support::RecordingUpstream& upstream) {
    const auto requests = upstream.requests();
    if (requests.empty()) throw std::runtime_error("the upstream got no request");
    return requests.back();
}

LogWatch::LogWatch(support::GatewayProcess& gateway) : gateway_(gateway), from_(gateway.process().output().size()) {}

void LogWatch::waitFor(const std::vector<std::string>& parts) const {
    const auto hasAll = [&](const std::string& line) {
        return std::all_of(parts.begin(), parts.end(),
                           [&](const std::string& part) { return line.find(part) != std::string::npos; });
    };
    const bool found = support::eventually([&] {
        std::istringstream lines(added());
        for (std::string line; std::getline(lines, line);) {
            if (hasAll(line)) return true;
        }
        return false;
    });
    if (found) return;
    std::string wanted;
    for (const auto& part : parts) wanted += " \"" + part + "\"";
    throw std::runtime_error("no line has" + wanted + "; there is:\n" + added());
}

std::size_t LogWatch::count(const std::string& text) const {
    const std::string all = added();
    std::size_t n = 0;
    for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++n;
    return n;
}

std::string LogWatch::added() const { return gateway_.process().output().substr(from_); }

}  // namespace weir::functional
