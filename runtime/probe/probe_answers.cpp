#include "probe/probe_answers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/value.hpp"
#include "module/probe_protocol.hpp"

namespace weir::probe {

namespace {

constexpr std::size_t kTextBytes = 4096;  // of a text that may come from the module

std::string quoted(std::string_view text) { return base::jsonQuote(text.substr(0, kTextBytes)); }

}  // namespace

ProbeAnswers::ProbeAnswers(int fd, std::string token, char* stepArea)
    : fd_(fd), token_(std::move(token)), stepArea_(stepArea), self_(::getpid()) {}

void ProbeAnswers::step(std::string_view what) {
    endForks();
    if (::fcntl(fd_, F_GETFD) < 0) ::_exit(module::kProbeSilenced);  // while the step that closed it is still named
    const std::size_t size = std::min(what.size(), module::kProbeStepBytes - 1);
    what.copy(stepArea_, size);
    stepArea_[size] = '\0';
}

void ProbeAnswers::refuse(const module::Refusal& refusal) {
    write("{\"refused\":{\"code\":" + quoted(module::toText(refusal.code)) + ",\"field\":" + quoted(refusal.field) +
          ",\"found\":" + quoted(refusal.found) + ",\"wanted\":" + quoted(refusal.wanted) +
          ",\"remedy\":" + quoted(refusal.remedy) + "}}");
    ::_exit(module::kProbeDone);
}

void ProbeAnswers::passed(bool unloads, std::string_view stays, std::uint32_t threads) {
    write(std::string("{\"passed\":{\"unloads\":") + (unloads ? "true" : "false") + ",\"stays\":" + quoted(stays) +
          ",\"threads\":" + std::to_string(threads) + "}}");
}

void ProbeAnswers::endForks() const {
    if (::getpid() != self_) ::_exit(module::kProbeDone);
}

void ProbeAnswers::write(const std::string& json) {
    endForks();
    const std::string line = "\n" + token_ + " " + json + "\n";
    for (std::string_view rest = line; !rest.empty();) {
        const ssize_t written = ::write(fd_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) ::_exit(module::kProbeSilenced);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace weir::probe
