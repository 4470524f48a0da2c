#include "support/gateway_process.hpp"

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace weir::support {

namespace {

std::vector<std::string> commandLine(const std::string& file, const std::vector<std::string>& added) {
    std::vector<std::string> all{"run", "-c", file, "--server.port=0", "--management.port=0"};
    all.insert(all.end(), added.begin(), added.end());
    return all;
}

}  // namespace

GatewayProcess::GatewayProcess(const std::string& yaml, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment)
    : file_(directory_.write("weir.yaml", yaml)), process_(WEIR_BINARY, commandLine(file_, arguments), environment) {
    managementPort_ = std::stoi(process_.waitForLine("management on 127.0.0.1:"));
    port_ = std::stoi(process_.waitForLine("listening on 127.0.0.1:"));
}

std::size_t GatewayProcess::descriptors() const {
    std::filesystem::directory_iterator all("/proc/" + std::to_string(process_.pid()) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::string GatewayProcess::descriptorTargets() const {
    std::string lines;
    for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(process_.pid()) + "/fd")) {
        std::error_code gone;
        lines += each.path().filename().string() + " " + std::filesystem::read_symlink(each, gone).string() + "\n";
    }
    return lines;
}

std::size_t GatewayProcess::residentBytes() const {
    std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("VmRSS:", 0) == 0) return std::stoul(line.substr(6)) * 1024;
    }
    throw std::runtime_error("the gateway is gone; its output:\n" + process_.output());
}

std::size_t GatewayProcess::mappings() const {
    std::ifstream maps("/proc/" + std::to_string(process_.pid()) + "/maps");
    std::size_t lines = 0;
    for (std::string line; std::getline(maps, line);) ++lines;
    return lines;
}

std::set<std::string> GatewayProcess::mappedFiles(const std::string& text) const {
    std::ifstream maps("/proc/" + std::to_string(process_.pid()) + "/maps");
    std::set<std::string> files;
    for (std::string line; std::getline(maps, line);) {
        const auto path = line.find('/');
        if (path != std::string::npos && line.find(text, path) != std::string::npos) files.insert(line.substr(path));
    }
    return files;
}

int GatewayProcess::stop() {
    process_.signal(SIGTERM);
    auto code = process_.waitForExit();
    if (!code) throw std::runtime_error("the gateway does not end; its output:\n" + process_.output());
    return *code;
}

}  // namespace weir::support
