// Makes known numbers of the calls that counting_preload.so counts, for the test of it.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>

namespace {

void* volatile kept = nullptr;

// So that the allocation is not optimised away.
void* keep(void* memory) {
    kept = memory;
    return memory;
}

// 1 epoll_ctl, 2 epoll_wait, 2 send, 3 recv of which one EAGAIN, 1 futex, 5 allocations, 1 other call.
void callThem(int epoll, const int (&ends)[2]) {
    epoll_event event{};
    ::epoll_wait(epoll, &event, 1, 0);  // from here on it counts
    event.events = EPOLLIN;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    char byte = 'x';
    const iovec piece{&byte, 1};
    if (::send(ends[1], &byte, 1, 0) != 1 || ::writev(ends[1], &piece, 1) != 1) std::abort();
    ::epoll_wait(epoll, &event, 1, 0);
    if (::recv(ends[0], &byte, 1, 0) != 1 || ::read(ends[0], &byte, 1) != 1) std::abort();
    if (::recv(ends[0], &byte, 1, MSG_DONTWAIT) != -1) std::abort();
    int word = 0;
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    const int on = 1;
    ::setsockopt(ends[0], SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    std::free(keep(std::malloc(10)));
    std::free(keep(std::calloc(10, 10)));
    std::free(keep(std::realloc(nullptr, 10)));
    std::free(keep(std::aligned_alloc(64, 128)));
    delete static_cast<int*>(keep(new int));
}

}  // namespace

int main() {
    const int epoll = ::epoll_create1(0);
    int ends[2];
    if (epoll < 0 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    std::thread loop([&] { callThem(epoll, ends); });
    loop.join();
    // This thread never waits in epoll_wait: none of these are a loop's.
    std::free(keep(std::malloc(10)));
    char byte = 'x';
    return ::write(ends[1], &byte, 1) == 1 ? 0 : 1;
}
