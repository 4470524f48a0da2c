#include "gates/call_counter.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include "support/child_process.hpp"

namespace weir::gates {

namespace {

// A file as it is mapped into a process, from the first of its mappings to the last.
struct MappedFile {
    std::string path;
    std::uint64_t begin;
    std::uint64_t end;
};

std::vector<MappedFile> mappedFiles(int pid) {
    std::vector<MappedFile> files;
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const auto path = line.find('/');
        if (path == std::string::npos) continue;
        std::istringstream words(line);
        char dash = 0;
        MappedFile file{line.substr(path), 0, 0};
        words >> std::hex >> file.begin >> dash >> file.end;
        if (!files.empty() && files.back().path == file.path) {
            files.back().end = file.end;
        } else {
            files.push_back(file);
        }
    }
    return files;
}

// "function at file:line", with what was inlined there; nothing for the libraries' own and the counter's.
std::string place(std::uint64_t address, const std::vector<MappedFile>& files) {
    const auto file = std::find_if(files.begin(), files.end(), [&](const MappedFile& each) {
        return each.begin <= address && address < each.end;
    });
    if (file == files.end()) return "    ?\n";
    if (file->path == COUNTING_PRELOAD) return "";
    std::ostringstream offset;
    offset << "0x" << std::hex << address - 1 - file->begin;  // of the call, not of where it returns to
    const support::Finished found =
        support::runToEnd("addr2line", {"-C", "-f", "-p", "-i", "-e", file->path, offset.str()});
    if (found.exitCode != 0) return "    " + file->path + " " + offset.str() + " (" + found.output + ")\n";
    std::string lines;
    std::istringstream all(found.output);
    for (std::string line; std::getline(all, line);) {
        const bool ours = line.find("/usr/include/") == line.npos && line.find("??") == line.npos;
        if (ours) lines += "    " + line + "\n";
    }
    return lines;
}

}  // namespace

CallCounter::CallCounter() : file_(directory_.path() / "counts") {
    const int fd = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void* memory = MAP_FAILED;
    if (fd >= 0 && ::ftruncate(fd, sizeof(SharedCounts)) == 0) {
        memory = ::mmap(nullptr, sizeof(SharedCounts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    const int error = errno;
    if (fd >= 0) ::close(fd);
    if (memory == MAP_FAILED) throw std::system_error(error, std::generic_category(), "cannot share " + file_);
    shared_ = static_cast<SharedCounts*>(memory);
}

CallCounter::~CallCounter() { ::munmap(shared_, sizeof(SharedCounts)); }

std::vector<std::string> CallCounter::environment() const {
    return {"LD_PRELOAD=" COUNTING_PRELOAD, std::string(kCountsVariable) + "=" + file_};
}

std::vector<Calls> CallCounter::loops() const {
    std::vector<Calls> all(std::min<std::size_t>(shared_->loops, kLoops));
    for (std::size_t loop = 0; loop < all.size(); ++loop) {
        std::copy(shared_->calls[loop].begin(), shared_->calls[loop].end(), all[loop].begin());
    }
    return all;
}

void CallCounter::traceAllocations() { shared_->wantsTraces = 1; }

std::string CallCounter::traces(int pid) const {
    const std::vector<MappedFile> files = mappedFiles(pid);
    std::set<std::string> distinct;
    for (std::size_t i = 0; i < std::min<std::size_t>(shared_->traceCount, kTraces); ++i) {
        std::string lines;
        for (const auto& address : shared_->traces[i]) {
            if (address != 0) lines += place(address, files);
        }
        distinct.insert(lines);
    }
    std::string text;
    for (const std::string& lines : distinct) text += "an allocation by\n" + lines;
    return text;
}

}  // namespace weir::gates
