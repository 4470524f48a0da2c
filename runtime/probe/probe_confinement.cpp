#include "probe/probe_confinement.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "module/probe_protocol.hpp"

#ifdef WEIR_SANITIZED
// A fault must end the process by its signal; what a module leaks before it is destroyed is not judged here.
extern "C" {
const char* __asan_default_options() { return "handle_segv=0:handle_sigfpe=0:abort_on_error=1:detect_leaks=0"; }
const char* __tsan_default_options() { return "handle_segv=0:handle_sigfpe=0:abort_on_error=1"; }
}
#endif

namespace weir::probe {

namespace {

constexpr rlim_t kDescriptors = 64;
constexpr rlim_t kFileBytes = 1024 * 1024;

void limit(__rlimit_resource resource, rlim_t most) {
    rlimit now{};
    if (::getrlimit(resource, &now) != 0) return;
    now.rlim_cur = now.rlim_max = std::min(most, now.rlim_max);
    ::setrlimit(resource, &now);
}

void dieFirst() {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t written = ::write(file, "1000", 4);
    ::close(file);
}

}  // namespace

void confine(pid_t parent, std::int64_t cpuSeconds, [[maybe_unused]] std::size_t requestBytes) {
#ifdef WEIR_SANITIZED
    // With the first thread ThreadSanitizer starts one of its own, which is none of the module's.
    std::thread([] {}).join();
#endif
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(module::kProbeUsage);  // it died before
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what the module leaves behind comes here, see endChildren()
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::close_range(module::kProbeAnswerFd + 1, ~0u, 0);
    dieFirst();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, static_cast<rlim_t>(cpuSeconds));
    limit(RLIMIT_FSIZE, kFileBytes);
    limit(RLIMIT_NOFILE, kDescriptors);
#ifndef WEIR_SANITIZED
    constexpr rlim_t kAddressBytes = rlim_t{2} << 30;  // thread stacks and malloc's arenas reserve more than they use
    constexpr rlim_t kBytesOfData = 64;                // for each byte of JSON: its tree, and what plugins make of it
    limit(RLIMIT_AS, kAddressBytes + kBytesOfData * requestBytes);
#endif
    ::signal(SIGPIPE, SIG_IGN);  // as in the gateway
    ::signal(SIGXFSZ, SIG_IGN);  // a write that is too much fails
}

}  // namespace weir::probe
