#include "gateway/signals.hpp"

#include <pthread.h>

#include <utility>

namespace weir::gateway {

Signals::Signals() {
    sigemptyset(&set_);
    for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

int Signals::wait() const {
    int number = 0;
    sigwait(&set_, &number);
    return number;
}

SignalThread::SignalThread(const Signals& signals, std::function<void(int)> handle)
    : thread_([this, &signals, handle = std::move(handle)] {
          for (;;) {
              const int number = signals.wait();
              if (over_) return;
              handle(number);
          }
      }) {}

SignalThread::~SignalThread() {
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);  // only to wake it
    thread_.join();
}

}  // namespace weir::gateway
