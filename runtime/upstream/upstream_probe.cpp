#include "upstream/upstream_probe.hpp"

#include <poll.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "net/socket.hpp"

namespace weir::upstream {

namespace {

constexpr std::size_t kLongestLine = 1024;  // a status line has less

std::string errorText(int error) { return std::generic_category().message(error); }

}  // namespace

short UpstreamProbe::events() const { return step_ == Step::Receive ? POLLIN : POLLOUT; }

UpstreamProbe::State UpstreamProbe::failed(std::string reason) {
    reason_ = std::move(reason);
    socket_ = base::Descriptor();
    return State::Failed;
}

UpstreamProbe::State UpstreamProbe::begin() {
    if (!addresses_) return failed("its name has no address");
    return tryAddress();
}

// The next address that a connect can be started to.
UpstreamProbe::State UpstreamProbe::tryAddress() {
    for (; address_ < addresses_->size(); ++address_) {
        auto fd = net::startConnect(addresses_->all()[address_]);
        if (!fd.ok()) {
            reason_ = fd.error().text();
            continue;
        }
        socket_ = base::Descriptor(*fd);
        step_ = Step::Connect;
        reason_ = "no connection to " + addresses_->all()[address_].addressText();
        return State::Running;
    }
    return failed(std::move(reason_));
}

UpstreamProbe::State UpstreamProbe::addressIsSlow() {
    if (step_ != Step::Connect) return failed(std::move(reason_));
    ++address_;
    return tryAddress();
}

UpstreamProbe::State UpstreamProbe::onReady() {
    switch (step_) {
        case Step::Connect: return connected();
        case Step::Send: return send();
        case Step::Receive: return receive();
    }
    return State::Failed;
}

UpstreamProbe::State UpstreamProbe::connected() {
    if (const int error = net::socketError(socket_.fd()); error != 0) {
        reason_ = addresses_->all()[address_].addressText() + ": " + errorText(error);
        ++address_;
        return tryAddress();
    }
    if (request_.empty()) {
        socket_ = base::Descriptor();
        return State::Passed;
    }
    step_ = Step::Send;
    return send();
}

UpstreamProbe::State UpstreamProbe::send() {
    const ssize_t count = net::writeSome(socket_.fd(), request_.data() + sent_, request_.size() - sent_);
    if (count == -EAGAIN) return State::Running;
    if (count < 0) return failed("the request could not be sent: " + errorText(static_cast<int>(-count)));
    sent_ += static_cast<std::size_t>(count);
    if (sent_ < request_.size()) return State::Running;
    step_ = Step::Receive;
    reason_ = "no answer";
    return State::Running;
}

UpstreamProbe::State UpstreamProbe::receive() {
    char bytes[kLongestLine];
    const ssize_t count = net::readSome(socket_.fd(), bytes, sizeof bytes);
    if (count == -EAGAIN) return State::Running;
    if (count < 0) return failed("no answer: " + errorText(static_cast<int>(-count)));
    if (count == 0) return failed("closed before an answer");
    answer_.append(bytes, static_cast<std::size_t>(count));
    if (answer_.find('\n') != answer_.npos) return judge();
    return answer_.size() < kLongestLine ? State::Running : failed("an answer that is not HTTP/1.1");
}

// "HTTP/1.1 200 ..."
UpstreamProbe::State UpstreamProbe::judge() {
    const auto digit = [this](std::size_t at) { return answer_[at] >= '0' && answer_[at] <= '9'; };
    const bool http = answer_.starts_with("HTTP/1.") && answer_.size() > 12 && answer_[8] == ' ' && digit(9) &&
                      digit(10) && digit(11) && !digit(12);
    if (!http) return failed("an answer that is not HTTP/1.1");
    if (answer_[9] != '2' && answer_[9] != '3') return failed("status " + answer_.substr(9, 3));
    socket_ = base::Descriptor();
    return State::Passed;
}

}  // namespace weir::upstream
