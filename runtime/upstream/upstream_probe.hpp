#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "upstream/address_list.hpp"

namespace weir::upstream {

// One try to reach an upstream: a TCP connect, and a GET if there is a request to send. The addresses are tried in
// order until one accepts; what that one answers counts. One thread, which waits for events() on fd() and for the time
// being over by its own means.
class UpstreamProbe {
public:
    enum class State { Running, Passed, Failed };

    // `addresses` null: the name has none. `request`: a whole GET; empty: the connect is all.
    UpstreamProbe(std::shared_ptr<const AddressList> addresses, std::string request)
        : addresses_(std::move(addresses)), request_(std::move(request)) {}

    State begin();
    State onReady();  // fd() has events
    // An address has had its time, an equal part of what the probe may take: on to the next one, if it was not reached
    // and there is one.
    State addressIsSlow();
    std::size_t addresses() const { return addresses_ ? addresses_->size() : 1; }
    int fd() const { return socket_.fd(); }
    short events() const;
    // Why it failed; of one that runs: what it waits for.
    const std::string& reason() const { return reason_; }

private:
    enum class Step { Connect, Send, Receive };

    State tryAddress();
    State connected();
    State send();
    State receive();
    State judge();
    State failed(std::string reason);

    std::shared_ptr<const AddressList> addresses_;
    std::string request_;
    std::size_t sent_ = 0;
    std::size_t address_ = 0;
    base::Descriptor socket_;
    Step step_ = Step::Connect;
    std::string answer_;  // its beginning
    std::string reason_;
};

}  // namespace weir::upstream
