// Preloaded into the gateway: counts the system calls and the allocations of its event loops in a file that a test
// reads while they run (call_counts.hpp).
//
// System calls are counted where the kernel gets them, not by interposing libc's functions: futex and others are inline
// there. A seccomp filter turns each call of the list into a SIGSYS, whose handler counts it and makes it. No ptrace:
// the call stays on its thread and costs a microsecond, so the pattern of the calls remains what it is. A thread gets
// the filter when it first waits in epoll_wait; others, and what they start, never have it. x86-64 only.
#include <execinfo.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "gates/call_counts.hpp"

// long callKernel(long number, const long long arguments[6]); the filter lets calls from here pass.
asm(R"(
    .text
    .hidden callKernel, callKernelReturn
    .globl callKernel, callKernelReturn
    .type callKernel, @function
callKernel:
    mov %rdi, %rax
    mov %rsi, %r11
    mov 0(%r11), %rdi
    mov 8(%r11), %rsi
    mov 16(%r11), %rdx
    mov 24(%r11), %r10
    mov 32(%r11), %r8
    mov 40(%r11), %r9
    syscall
callKernelReturn:
    ret
    .size callKernel, . - callKernel
)");
extern "C" long callKernel(long number, const long long* arguments);
extern "C" const char callKernelReturn;
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* old, std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

using weir::gates::Call;
using weir::gates::SharedCounts;

struct Counted {
    int number;
    Call as;
};
// None that libc makes with all signals blocked, at the end of a thread: a SIGSYS would kill the process there.
constexpr Counted kCounted[] = {
    {SYS_recvfrom, Call::Receive},        {SYS_recvmsg, Call::Receive},         {SYS_recvmmsg, Call::Receive},
    {SYS_read, Call::Receive},            {SYS_readv, Call::Receive},           {SYS_sendto, Call::Send},
    {SYS_sendmsg, Call::Send},            {SYS_sendmmsg, Call::Send},           {SYS_sendfile, Call::Send},
    {SYS_write, Call::Send},              {SYS_writev, Call::Send},             {SYS_epoll_wait, Call::EpollWait},
    {SYS_epoll_pwait, Call::EpollWait},   {SYS_epoll_pwait2, Call::EpollWait},  {SYS_epoll_ctl, Call::EpollControl},
    {SYS_futex, Call::Futex},             {SYS_accept, Call::Other},            {SYS_accept4, Call::Other},
    {SYS_clock_gettime, Call::Other},     {SYS_clock_nanosleep, Call::Other},   {SYS_close, Call::Other},
    {SYS_connect, Call::Other},           {SYS_eventfd2, Call::Other},          {SYS_fcntl, Call::Other},
    {SYS_getpeername, Call::Other},       {SYS_getrandom, Call::Other},         {SYS_getsockname, Call::Other},
    {SYS_getsockopt, Call::Other},        {SYS_gettid, Call::Other},            {SYS_ioctl, Call::Other},
    {SYS_newfstatat, Call::Other},        {SYS_openat, Call::Other},            {SYS_poll, Call::Other},
    {SYS_ppoll, Call::Other},             {SYS_sched_yield, Call::Other},       {SYS_setsockopt, Call::Other},
    {SYS_shutdown, Call::Other},          {SYS_socket, Call::Other},            {SYS_timerfd_settime, Call::Other},
};

SharedCounts* shared = nullptr;
// Null in threads that are no loops. In the static part of a thread's memory, which needs no allocation at first use.
__attribute__((tls_model("initial-exec"))) thread_local std::atomic<std::uint64_t>* ownCalls = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool tracing = false;

void count(Call call) { ownCalls[static_cast<std::size_t>(call)].fetch_add(1, std::memory_order_relaxed); }

void fail(const char* what) {
    dprintf(STDERR_FILENO, "counting_preload: %s: errno %d\n", what, errno);
    _exit(1);
}

void onCall(int, siginfo_t* info, void* context) {
    greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const auto found = std::find_if(std::begin(kCounted), std::end(kCounted),
                                    [&](const Counted& each) { return each.number == info->si_syscall; });
    const long long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                                    registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
    // Before the call is made: who waits for what it does, such as an answer, finds it counted. Null: a thread that a
    // loop has started.
    if (ownCalls) count(found->as);
    const long result = callKernel(info->si_syscall, arguments);
    registers[REG_RAX] = result;
    if (ownCalls && found->as == Call::Receive && result == -EAGAIN) count(Call::ReceiveAgain);
}

// Before main, while there is one thread.
__attribute__((constructor)) void start() {
    const char* file = std::getenv(weir::gates::kCountsVariable);
    const int fd = file ? ::open(file, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) fail(weir::gates::kCountsVariable);
    void* memory = ::mmap(nullptr, sizeof(SharedCounts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) fail("mmap");
    ::close(fd);
    shared = static_cast<SharedCounts*>(memory);
    void* frame;
    ::backtrace(&frame, 1);  // the first one loads a library
    struct sigaction action{};
    action.sa_sigaction = onCall;
    // Not blocked meanwhile: a handler of another signal that interrupts the call may make one that is counted too.
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    if (::sigaction(SIGSYS, &action, nullptr) != 0) fail("sigaction");
}

// Calls that callKernel makes pass, those of kCounted trap, all others pass.
void filterThisThread() {
    constexpr std::size_t kHead = 6;
    const auto ours = reinterpret_cast<std::uintptr_t>(&callKernelReturn);
    std::array<sock_filter, kHead + std::size(kCounted) + 2> program;
    const auto load = [](std::size_t offset) -> sock_filter {
        return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
    };
    const auto skipUnless = [](std::uint64_t value, std::uint8_t skipped) -> sock_filter {
        return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(value), 0, skipped);
    };
    const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[0] = load(offsetof(seccomp_data, instruction_pointer));
    program[1] = skipUnless(ours & 0xffffffff, 3);
    program[2] = load(offsetof(seccomp_data, instruction_pointer) + 4);
    program[3] = skipUnless(ours >> 32, 1);
    program[4] = allow;
    program[5] = load(offsetof(seccomp_data, nr));
    for (std::size_t i = 0; i < std::size(kCounted); ++i) {
        const auto toTrap = static_cast<std::uint8_t>(std::size(kCounted) - i);
        const auto number = static_cast<std::uint32_t>(kCounted[i].number);
        program[kHead + i] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, toTrap, 0);
    }
    program[kHead + std::size(kCounted)] = allow;
    program[kHead + std::size(kCounted) + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) != 0) fail("seccomp");
}

void trace() {
    const std::uint32_t number = shared->traceCount.fetch_add(1);
    if (number >= weir::gates::kTraces) return;
    tracing = true;
    void* frames[weir::gates::kTraceDepth];
    const auto depth = static_cast<std::size_t>(::backtrace(frames, std::size(frames)));
    tracing = false;
    for (std::size_t i = 0; i < depth; ++i) {
        shared->traces[number][i] = reinterpret_cast<std::uint64_t>(frames[i]);
    }
}

void countAllocation() {
    if (!ownCalls || tracing) return;
    count(Call::Allocate);
    if (shared->wantsTraces.load(std::memory_order_relaxed)) trace();
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int epoll_wait(int epoll, epoll_event* events, int size, int timeout) {
    if (!ownCalls) {
        const std::uint32_t number = shared->loops.fetch_add(1);
        if (number >= weir::gates::kLoops) fail("more loops than kLoops");
        ownCalls = shared->calls[number].data();
        filterThisThread();
    }
    return static_cast<int>(::syscall(SYS_epoll_wait, epoll, events, size, timeout));
}

EXPORTED void* malloc(std::size_t size) {
    countAllocation();
    return __libc_malloc(size);
}

EXPORTED void* calloc(std::size_t count, std::size_t size) {
    countAllocation();
    return __libc_calloc(count, size);
}

EXPORTED void* realloc(void* old, std::size_t size) {
    countAllocation();
    return __libc_realloc(old, size);
}

EXPORTED void* memalign(std::size_t alignment, std::size_t size) {
    countAllocation();
    return __libc_memalign(alignment, size);
}

EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t size) {
    countAllocation();
    return __libc_memalign(alignment, size);
}

EXPORTED int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    countAllocation();
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
