#include "upstream/health_check.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/log.hpp"

namespace weir::upstream {

namespace {

constexpr std::chrono::milliseconds kLook{500};  // whether there are other servers, or other addresses

base::Descriptor makeEvent() {
    base::Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (event.fd() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    return event;
}

std::string requestFor(const Server& server, const std::string& path) {
    if (path.empty()) return {};
    return "GET " + path + " HTTP/1.1\r\nHost: " + server.url +
           "\r\nUser-Agent: weir-upstream-check\r\nAccept: */*\r\nConnection: close\r\n\r\n";
}

}  // namespace

HealthCheck::HealthCheck(const config::Settings::UpstreamCheck& settings, const ServerRegistry& servers)
    : settings_(settings), servers_(servers), nextPrint_(Clock::now() + settings.printInterval), end_(makeEvent()) {
    thread_ = std::thread([this] { run(); });
}

HealthCheck::~HealthCheck() {
    ::eventfd_write(end_.fd(), 1);
    thread_.join();
}

void HealthCheck::run() {
    std::vector<pollfd> polled;
    std::vector<Checked*> of;
    for (;;) {
        const auto now = Clock::now();
        if (now >= nextLook_) look();
        if (settings_.printEnabled && now >= nextPrint_) print();
        beginDue(now);
        collect(polled, of);
        ::poll(polled.data(), polled.size(), waitMs(now));
        if (polled[0].revents != 0) return;
        for (std::size_t i = 1; i < polled.size(); ++i) {
            if (polled[i].revents == 0) continue;
            const UpstreamProbe::State state = of[i]->probe->onReady();
            if (state != UpstreamProbe::State::Running) over(*of[i], state == UpstreamProbe::State::Passed);
        }
    }
}

// Who came, who went, who has other addresses.
void HealthCheck::look() {
    nextLook_ = Clock::now() + kLook;
    std::map<std::uint32_t, Checked> now;
    for (ServerRegistry::Known& known : servers_.checked()) {
        Checked& checked = now[known.server->id];
        const auto before = checked_.find(known.server->id);
        if (before != checked_.end() && before->second.server.lock() == known.server) {
            checked = std::move(before->second);
            checked_.erase(before);
        }
        checked.server = known.server;
        checked.addresses = std::move(known.addresses);
    }
    for (const auto& [id, gone] : checked_) running_ -= gone.probe != nullptr;
    checked_ = std::move(now);
}

// Ends what takes too long, then starts what is due as far as there is room, those first that wait longest.
void HealthCheck::beginDue(Clock::time_point now) {
    std::vector<Checked*> due;
    for (auto& [id, checked] : checked_) {
        if (checked.due > now) continue;
        if (!checked.probe) {
            due.push_back(&checked);
        } else if (checked.probe->addressIsSlow() == UpstreamProbe::State::Running) {
            checked.due = now + settings_.timeout / checked.probe->addresses();
        } else {
            over(checked, false);
        }
    }
    std::ranges::sort(due, {}, &Checked::due);
    for (Checked* checked : due) {
        if (running_ >= settings_.poolSize) return;
        begin(*checked);
    }
}

void HealthCheck::begin(Checked& checked) {
    const auto server = checked.server.lock();
    if (!server) {  // forgotten at the next look
        checked.due = nextLook_;
        return;
    }
    checked.probe = std::make_unique<UpstreamProbe>(checked.addresses, requestFor(*server, settings_.path.text));
    checked.due = Clock::now() + settings_.timeout / checked.probe->addresses();
    ++running_;
    const UpstreamProbe::State state = checked.probe->begin();
    if (state == UpstreamProbe::State::Failed && !canOpen()) return giveUp(checked);
    starved_ = false;
    if (state != UpstreamProbe::State::Running) over(checked, state == UpstreamProbe::State::Passed);
}

bool HealthCheck::canOpen() const {
    return base::Descriptor(::fcntl(end_.fd(), F_DUPFD_CLOEXEC, 0)).fd() >= 0;
}

// That the gateway is out of descriptors says nothing about an upstream.
void HealthCheck::giveUp(Checked& checked) {
    checked.probe.reset();
    --running_;
    checked.due = Clock::now() + settings_.interval;
    if (std::exchange(starved_, true)) return;
    base::logWarning("upstreamCheck: no descriptor is left to try upstreams with; they are taken for what they were");
}

void HealthCheck::over(Checked& checked, bool passed) {
    const auto probe = std::exchange(checked.probe, nullptr);
    --running_;
    checked.due = Clock::now() + settings_.interval;
    const auto server = checked.server.lock();
    if (!server) return;
    if (passed != server->state.unhealthy.load(std::memory_order_relaxed)) {  // as it is taken for
        checked.inRow = 0;
        return;
    }
    if (++checked.inRow < (passed ? settings_.healthyThreshold : settings_.unhealthyThreshold)) return;
    checked.inRow = 0;
    server->state.setUnhealthy(!passed);
    if (passed) base::logInfo("upstream " + server->url + " is healthy again");
    else base::logWarning("upstream " + server->url + " is unhealthy and gets no requests: " + probe->reason());
}

void HealthCheck::collect(std::vector<pollfd>& polled, std::vector<Checked*>& of) {
    polled.assign(1, {end_.fd(), POLLIN, 0});
    of.assign(1, nullptr);
    for (auto& [id, checked] : checked_) {
        if (!checked.probe) continue;
        polled.push_back({checked.probe->fd(), checked.probe->events(), 0});
        of.push_back(&checked);
    }
}

int HealthCheck::waitMs(Clock::time_point now) const {
    auto until = nextLook_;
    if (settings_.printEnabled) until = std::min(until, nextPrint_);
    const bool room = running_ < settings_.poolSize;
    for (const auto& [id, checked] : checked_)
        if (checked.probe || room) until = std::min(until, checked.due);
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    return static_cast<int>(std::max<std::int64_t>(wait.count(), 0));
}

void HealthCheck::print() {
    nextPrint_ = Clock::now() + settings_.printInterval;
    std::string unhealthy;
    std::size_t count = 0;
    for (const auto& [id, checked] : checked_) {
        const auto server = checked.server.lock();
        if (!server || !server->state.unhealthy.load(std::memory_order_relaxed)) continue;
        ++count;
        unhealthy += (unhealthy.empty() ? ": " : ", ") + server->url;
    }
    base::logInfo("upstreamCheck: " + std::to_string(checked_.size() - count) + " healthy, " + std::to_string(count) +
                  " unhealthy" + unhealthy);
}

}  // namespace weir::upstream
