// weir-probe FILE: tries a module out for the gateway, which starts it; see module/probe_protocol.hpp.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/value.hpp"
#include "module/probe_protocol.hpp"
#include "probe/probe_answers.hpp"
#include "probe/probe_confinement.hpp"
#include "probe/probe_trial.hpp"

namespace {

#ifdef __SANITIZE_ADDRESS__
// What a module leaks, or its own static runtime never gives back, is no reason to refuse it.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

using namespace weir;

struct Request {
    std::string json;
    char* stepArea;
};

// Nothing when there is none: somebody else started this program.
std::optional<Request> readRequest() {
    constexpr int fd = module::kProbeRequestFd;
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size <= module::kProbeStepBytes) return std::nullopt;
    void* area = ::mmap(nullptr, module::kProbeStepBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED) return std::nullopt;
    Request request{std::string(size - module::kProbeStepBytes, '\0'), static_cast<char*>(area)};
    for (std::size_t done = 0; done < request.json.size();) {
        const ssize_t got = ::pread(fd, request.json.data() + done, request.json.size() - done,
                                    static_cast<off_t>(module::kProbeStepBytes + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return std::nullopt;
        done += static_cast<std::size_t>(got);
    }
    ::close(fd);
    return request;
}

std::int64_t numberOf(const base::Value& json, std::string_view key) {
    const base::Value* found = json.find(key);
    return found ? found->toInt().value_or(0) : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<Request> request = argc == 2 ? readRequest() : std::nullopt;
    const auto json = base::parseJson(request ? request->json : "");
    const base::Value* token = json ? json->find("token") : nullptr;
    const base::Value* data = json ? json->find("data") : nullptr;
    const base::Value* names = json ? json->find("balancers") : nullptr;
    if (!token || !data || !names) {
        std::fprintf(stderr, "weir-probe is started by weir to try a module out: see weir plugin check\n");
        return module::kProbeUsage;
    }
    probe::confine(static_cast<pid_t>(numberOf(*json, "parent")), numberOf(*json, "cpuSeconds"),
                   request->json.size());

    std::vector<std::string> balancers;
    for (const base::Value& name : names->items()) balancers.push_back(name.text());
    probe::ProbeAnswers answers(module::kProbeAnswerFd, token->text(), request->stepArea);
    const bool ordinary = probe::runTrial(argv[1], *data, std::move(balancers), answers);
    answers.step("end of the process");
    if (!ordinary) ::_exit(module::kProbeDone);
    return module::kProbeDone;
}
